using System.Runtime.CompilerServices;

namespace Ambrosia.Samples.Tests;

/// <summary>
/// The programs that this suite starts are killed or over within seconds. Compiling anew what they call often took a quarter of the suite's
/// processor time, so the runtime waits for a second of rest with it.
/// </summary>
internal static class ShortPrograms
{
    [ModuleInitializer]
    internal static void Wait() => Environment.SetEnvironmentVariable("DOTNET_TC_CallCountingDelayMs", "3E8"); // 1,000, in hexadecimal
}
