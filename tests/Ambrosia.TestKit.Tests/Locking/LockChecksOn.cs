using System.Runtime.CompilerServices;

namespace Ambrosia.TestKit.Tests.Locking;

/// <summary>
/// Switches the checks of the order of locks on, in each suite and in the processes that it starts (Directory.Build.targets links it into
/// each project of tests). It runs before any other code of its suite, so before the product reads the variable.
/// </summary>
internal static class LockChecksOn
{
    internal const string Variable = "AMBROSIA_LOCK_CHECKS";

    [ModuleInitializer]
    internal static void Set() => Environment.SetEnvironmentVariable(Variable, "1");
}
