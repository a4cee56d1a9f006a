using System.Diagnostics;

namespace Ambrosia.EndToEnd.Tests.Refusals;

/// <summary>A test with a preloaded library, which is built where there is a C compiler; else it is skipped, with the reason.</summary>
[AttributeUsage(AttributeTargets.Method)]
public sealed class RefusalFactAttribute : FactAttribute
{
    private static readonly string? s_whyNot;

    static RefusalFactAttribute() => Library = Build(out s_whyNot);

    public RefusalFactAttribute()
    {
        if (s_whyNot is not null) Skip = s_whyNot;
    }

    /// <summary>The path of the library; null: there is none, and the tests are skipped.</summary>
    public static string? Library { get; }

    private static string? Build(out string? whyNot)
    {
        string library = Path.Combine(AppContext.BaseDirectory, "librefuse.so"), made = $"{library}.{Environment.ProcessId}";
        string source = Path.Combine(AppContext.BaseDirectory, "Refusals", "refuse.c");
        try
        {
            string[] arguments = ["-shared", "-fPIC", "-O1", "-o", made, source, "-ldl", "-lpthread"];
            using Process compiler = Process.Start(new ProcessStartInfo("cc", arguments) { RedirectStandardError = true })!;
            string said = compiler.StandardError.ReadToEnd();
            compiler.WaitForExit();
            whyNot = compiler.ExitCode == 0 ? null : $"cc does not build the library that refuses calls: {said}";
            if (whyNot is null) File.Move(made, library, overwrite: true);
        }
        catch (System.ComponentModel.Win32Exception)
        {
            whyNot = "cc is not installed";
        }
        return whyNot is null ? library : null;
    }
}
