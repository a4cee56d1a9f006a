namespace Ambrosia.EndToEnd.Tests;

/// <summary>A test that needs a file system of its own; skipped, with the reason, where none can be mounted.</summary>
[AttributeUsage(AttributeTargets.Method)]
public sealed class MountFactAttribute : FactAttribute
{
    private static readonly string? whyNot = WhyNot();

    public MountFactAttribute()
    {
        if (whyNot is not null) Skip = whyNot;
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
