namespace Ambrosia.EndToEnd.Tests;

/// <summary>A test that needs a mount which can only be read; skipped, with the reason, where none can be made.</summary>
[AttributeUsage(AttributeTargets.Method)]
public sealed class ReadOnlyMountFactAttribute : FactAttribute
{
    private static readonly string? s_whyNot = WhyNot();

    public ReadOnlyMountFactAttribute()
    {
        if (s_whyNot is not null) Skip = s_whyNot;
    }

    private static string? WhyNot()
    {
        string path = Directory.CreateTempSubdirectory("ambrosia-mount-").FullName;
        try
        {
            return SmallDisk.Run("unshare", "-rm", "mount", "--bind", "-o", "ro", path, path) is { Length: > 0 } why
                ? $"nothing can be mounted here: {why}" : null;
        }
        finally
        {
            Directory.Delete(path);
        }
    }
}
