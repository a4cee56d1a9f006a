using Ambrosia.Stores.Azure;

namespace ImmortalCoordinator.Azure;

/// <summary>Is the coordinator that also takes <c>--catalog azure-tables://account/table</c>; all else is that of the usual one.</summary>
internal static class CoordinatorWithAzure
{
    private static int Main(string[] args)
    {
        AzureTables.Use();
        return Program.Main(args);
    }
}
