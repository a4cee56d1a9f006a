namespace Ambrosia.TestKit;

/// <summary>
/// A change of names that the device may not have yet. <see cref="TryApply"/> changes nothing when what it rests on is not there.
/// The file is null for directories.
/// </summary>
internal abstract record NameOperation(Inode? Inode)
{
    /// <summary>The directories whose flush makes it durable.</summary>
    public abstract IEnumerable<string> Directories { get; }

    public abstract bool TryApply(NameImage image);

    internal sealed record AddDirectory(string Path) : NameOperation((Inode?)null)
    {
        public override IEnumerable<string> Directories => [NameImage.ParentOf(Path)];

        public override bool TryApply(NameImage image)
        {
            image.AddDirectory(Path);
            return true;
        }
    }

    /// <summary>A creation or a link.</summary>
    internal sealed record Add(string Path, Inode? Inode) : NameOperation(Inode)
    {
        public override IEnumerable<string> Directories => [NameImage.ParentOf(Path)];

        public override bool TryApply(NameImage image)
        {
            if (image.Find(Path) is not null) return false;
            image.Set(Path, Inode!);
            return true;
        }
    }

    internal sealed record Remove(string Path, Inode? Inode) : NameOperation(Inode)
    {
        public override IEnumerable<string> Directories => [NameImage.ParentOf(Path)];

        public override bool TryApply(NameImage image)
        {
            if (image.Find(Path) != Inode) return false;
            image.Remove(Path);
            return true;
        }
    }

    /// <summary>A rename, atomic: both names change or neither.</summary>
    internal sealed record Move(string From, string To, Inode? Inode, bool Replace) : NameOperation(Inode)
    {
        public override IEnumerable<string> Directories => [NameImage.ParentOf(From), NameImage.ParentOf(To)];

        public override bool TryApply(NameImage image)
        {
            if (image.Find(From) != Inode || (!Replace && image.Find(To) is not null)) return false;
            image.Remove(From);
            image.Set(To, Inode!);
            return true;
        }
    }
}
