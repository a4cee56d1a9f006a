namespace Ambrosia.TestKit;

/// <summary>
/// 4 KiB of a simulated file: what programs see, what the device holds, and every version written since the last flush.
/// Contents are never changed in place (each write makes a new array), so images and copies share them.
/// Invariant: while <see cref="_unflushed"/> has entries, the last of them is <see cref="Current"/>. When it has none, Current and
/// <see cref="Durable"/> differ only after a failed flush: the page cache believes the block clean, the device never got it.
/// </summary>
internal sealed class Block
{
    public const int Bytes = 4096;
    public const int SectorBytes = 512;

    /// <summary>Versions kept between flushes; beyond it the oldest ordinary one is forgotten.</summary>
    private const int VersionsMax = 8;

    /// <summary>Mark of a version that is ordinary data and not the effect of a cut.</summary>
    private const long NoCut = -1;

    private static readonly byte[] s_zeros = new byte[Bytes];

    private readonly List<Version> _unflushed = [];

    public byte[] Current { get; private set; } = s_zeros;

    public byte[] Durable { get; private set; } = s_zeros;

    public bool IsDirty => _unflushed.Count > 0;

    /// <summary>Data written by a program.</summary>
    public void Put(int offset, ReadOnlySpan<byte> bytes)
    {
        byte[] next = new byte[Bytes];
        if (bytes.Length < Bytes) Current.CopyTo(next, 0);
        bytes.CopyTo(next.AsSpan(offset));
        Push(next, NoCut);
    }

    /// <summary>
    /// The file was cut: bytes from <paramref name="offset"/> on are zero. <paramref name="change"/> is the number of that length change.
    /// </summary>
    public void Cut(int offset, long change)
    {
        byte[] next = new byte[Bytes];
        Current.AsSpan(0, offset).CopyTo(next);
        Push(next, change);
    }

    public void Flush()
    {
        if (IsDirty) Durable = Current;
        _unflushed.Clear();
    }

    /// <summary>
    /// A flush failed: the block reached the device or is lost, but is clean from now on, so that no later flush writes it. When the flush
    /// did not get as far as the file's length, a block that was cut stays dirty.
    /// </summary>
    public void FailFlush(SimulatedRandom random, bool lengthKept)
    {
        int cut = _unflushed.FindLastIndex(static version => version.IsCut);
        if (cut >= 0 && !lengthKept) return;
        if (cut >= 0) Durable = _unflushed[cut].Content;
        if (random.Chance(50)) Flush();
        _unflushed.Clear();
    }

    /// <summary>A clean block is read from the device again.</summary>
    public void DropCache()
    {
        if (!IsDirty) Current = Durable;
    }

    /// <summary>
    /// Keeps one of the versions that the device may hold when the length change of number <paramref name="lengthKept"/> survived.
    /// </summary>
    public void LosePower(SimulatedRandom random, long lengthKept, int keepPercent, bool tornSectors)
    {
        List<byte[]> possible = PossibleOnDevice(lengthKept);
        byte[] first = Draw(random, possible, keepPercent);
        byte[] second = Draw(random, possible, keepPercent);
        Durable = tornSectors && !ReferenceEquals(first, second) ? Tear(random, first, second) : first;
        Current = Durable;
        _unflushed.Clear();
    }

    /// <summary>As above, with any version that differs from the others, whole.</summary>
    public void LosePower(PowerLossChoices choices, long lengthKept)
    {
        List<byte[]> different = [];
        foreach (byte[] content in PossibleOnDevice(lengthKept))
            if (!different.Exists(each => each.AsSpan().SequenceEqual(content))) different.Add(content);
        Durable = different[choices.Choose(different.Count)];
        Current = Durable;
        _unflushed.Clear();
    }

    /// <summary>Changes what the device holds behind every program's back, and what the cache holds too when asked.</summary>
    public void Damage(Action<byte[]> change, bool alsoCached)
    {
        byte[] durable = [.. Durable];
        change(durable);
        bool shared = ReferenceEquals(Durable, Current);
        Durable = durable;
        if (!alsoCached) return;
        byte[] current = shared ? durable : [.. Current];
        if (!shared) change(current);
        Current = current;
        if (IsDirty) _unflushed[^1] = _unflushed[^1] with { Content = current };
    }

    public Block Copy()
    {
        var copy = new Block { Current = Current, Durable = Durable };
        copy._unflushed.AddRange(_unflushed);
        return copy;
    }

    /// <summary>
    /// What is durable and every later version, bounded by the cuts: one that survived hides what was before it, one that did
    /// not hides what came after.
    /// </summary>
    private List<byte[]> PossibleOnDevice(long lengthKept)
    {
        List<byte[]> possible = [Durable];
        foreach (Version version in _unflushed)
        {
            if (version.IsCut && version.Change > lengthKept) break;
            if (version.IsCut) possible.Clear();
            possible.Add(version.Content);
        }

        return possible;
    }

    private static byte[] Draw(SimulatedRandom random, List<byte[]> possible, int keepPercent)
    {
        if (possible.Count == 1 || !random.Chance(keepPercent)) return possible[0];
        // Most often the newest: the device has had time for it or for none.
        return random.Chance(75) ? possible[^1] : possible[random.Next(1, possible.Count)];
    }

    private static byte[] Tear(SimulatedRandom random, byte[] first, byte[] second)
    {
        // Half of the blocks stay whole, or whole blocks among many would never be seen.
        if (random.Chance(50)) return first;
        byte[] torn = new byte[Bytes];
        for (int at = 0; at < Bytes; at += SectorBytes)
        {
            byte[] source = random.Chance(50) ? first : second;
            source.AsSpan(at, SectorBytes).CopyTo(torn.AsSpan(at));
        }

        return torn;
    }

    private void Push(byte[] content, long change)
    {
        if (_unflushed.Count >= VersionsMax)
        {
            int oldest = _unflushed.FindIndex(static version => !version.IsCut);
            if (oldest >= 0) _unflushed.RemoveAt(oldest);
        }

        _unflushed.Add(new Version(content, change));
        Current = content;
    }

    private readonly record struct Version(byte[] Content, long Change)
    {
        public bool IsCut => Change != NoCut;
    }
}
