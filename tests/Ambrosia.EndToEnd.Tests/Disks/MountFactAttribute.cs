namespace Ambrosia.EndToEnd.Tests;

/// <summary>A test that needs a file system of its own; skipped, with the reason, where none can be mounted.</summary>
[AttributeUsage(AttributeTargets.Method)]
public sealed class MountFactAttribute : FactAttribute
{
    /// <summary>Null: it can be mounted.</summary>
    public static readonly string? Missing = WhyNot();

    public MountFactAttribute()
    {
        if (Missing is not null) Skip = Missing;
    }

    private static string? WhyNot()
    {
        string path = Directory.CreateTempSubdirectory("ambrosia-mount-").FullName;
        try
        {
            using var trial = new SmallDisk(path, 1);
            return null;
        }
        catch (IOException e)
        {
            return $"nothing can be mounted here: {e.Message}";
        }
        finally
        {
            Directory.Delete(path);
        }
    }
}
