namespace Ambrosia.Samples.Tests;

/// <summary>Marks the test that needs what the commands use besides the SDK.</summary>
internal sealed class CurlFactAttribute : FactAttribute
{
    public CurlFactAttribute()
    {
        string[] missing = [.. new[] { "bash", "curl", "git" }.Where(static tool =>
            !(Environment.GetEnvironmentVariable("PATH") ?? "").Split(':').Any(each => File.Exists(Path.Combine(each, tool))))];
        if (missing.Length > 0) Skip = $"{string.Join(", ", missing)} not installed; .ci/run installs what is missing";
    }
}
