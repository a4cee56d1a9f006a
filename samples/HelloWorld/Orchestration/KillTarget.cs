namespace HelloWorld.Orchestration;

/// <summary>Which of the four processes a kill -9 hits.</summary>
[Flags]
internal enum KillTarget
{
    ClientApp = 1,
    ClientCoordinator = 2,
    ServerApp = 4,
    ServerCoordinator = 8,
    ClientBoth = ClientApp | ClientCoordinator,
    ServerBoth = ServerApp | ServerCoordinator,
    Everything = ClientBoth | ServerBoth,
}
