namespace Ambrosia.EndToEnd.Tests;

/// <summary>The standard output is nobody's life: a coordinator that cannot write its events goes on, and ends as it is asked to.</summary>
public sealed class FullOutputTests
{
    [Fact]
    public void Output_OnAFullDisk_DoesNotEndTheCoordinator()
    {
        using var cluster = new Cluster();
        Replica source = cluster.Add("source", "source");
        cluster.Run(Cluster.Again(nameof(Output_OnAFullDisk_DoesNotEndTheCoordinator)), () =>
        {
            source.Start(null, withApp: false, "/bin/sh", "-c", "exec \"$@\" > /dev/full", "sh");
            Cluster.Await("the log is open", () => (string?)source.Status()?["role"] == "recovering");
            Signals.Terminate(source.Coordinator.Id);
            Assert.Equal(0, source.AwaitExit());
        });
    }
}
