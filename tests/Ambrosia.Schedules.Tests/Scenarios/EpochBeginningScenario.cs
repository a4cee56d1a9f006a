using Ambrosia.Coordinator;
using Ambrosia.Coordinator.Primary;
using Ambrosia.Coordinator.Tests;
using Ambrosia.Protocol.Records;
using Ambrosia.TestKit;

namespace Ambrosia.Schedules.Tests.Scenarios;

/// <summary>
/// The process that made a log died before an app had come, and the next one becomes primary of a log without a record while its clock
/// ticks. The log begins with the record that states the app's version, whoever appends first.
/// </summary>
internal sealed class EpochBeginningScenario : Scenario
{
    public override World Make() => new EpochBeginningWorld();

    private sealed class EpochBeginningWorld : World
    {
        private const int Ticks = 3;

        private readonly Node _node;

        public EpochBeginningWorld()
        {
            var disk = new SimulatedFileSystem();
            var time = new FakeTime();
            new Node(disk, time, OpenedLog.Small).Kill();
            _node = new Node(disk, time, OpenedLog.Small, "r1");
            PrimaryStart start = _node.TakeLogOver();
            Threads.Add(("promote", () => _node.Parts.BecomePrimary(start)));
            Threads.Add(("tick", Tick));
        }

        private void Tick()
        {
            var housekeeping = new Housekeeping(_node.Parts);
            for (int i = 0; i < Ticks; i++) housekeeping.Step(TimeSpan.Zero);
        }

        public override void Check()
        {
            var app = new SpokenApp(_node);
            app.Listen();
            Assert.Equal([RecordKind.FirstStart, RecordKind.Policy, RecordKind.Build], app.Records.Select(static record => record.Kind));
        }

        public override void Dispose()
        {
            _node.Parts.Dispose();
            base.Dispose();
        }
    }
}
