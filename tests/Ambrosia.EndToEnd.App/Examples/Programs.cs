namespace Ambrosia.EndToEnd.App.Examples;

#region one process
internal static class Programs
{
    internal static int InTwoProcesses(string[] args) => AmbrosiaApp.Run<Ledger>(args); // ImmortalCoordinator --log DIR -- APP

    internal static int InOneProcess(string[] args) => AmbrosiaHost.Run<Ledger>(args); // APP --log DIR

    internal static int ManyInOneProcess(string[] args) => // APP --log DIR, with logs in DIR/books and DIR/copies
        AmbrosiaHost.Run(args, EmbeddedImmortal.Of<Ledger>("books"), EmbeddedImmortal.Of<Ledger>("copies"));
}
#endregion
