using Ambrosia.Coordinator.Hosting;
using Ambrosia.Coordinator.Replica;
using Ambrosia.TestKit;
using CRA.Catalog;
using Microsoft.Extensions.Logging;

namespace Ambrosia.Schedules.Tests.Scenarios;

/// <summary>
/// Two threads log, one of them flushes, and the writer's own thread writes. Every line is written once, and whoever has flushed finds his
/// own there.
/// </summary>
internal sealed class EventWriterScenario : Scenario
{
    public override World Make() => new EventWriterWorld();

    private sealed class EventWriterWorld : World
    {
        private readonly StringWriter _output = new();
        private readonly EventWriter _writer;
        private bool _isThere;

        public EventWriterWorld()
        {
            var options = new CoordinatorOptions { LogDirectory = "/l", Instance = "i", Catalog = CatalogPlace.OfDirectory("/c") };
            _writer = new EventWriter(_output, new EventFormat(options, isForJournal: true, new FakeTime()));
            Threads.Add(("log", () =>
            {
                Log("one");
                Log("two");
            }));
            Threads.Add(("flush", () =>
            {
                Log("three");
                Assert.True(_writer.Flush());
                _isThere = _output.ToString().Contains("three", StringComparison.Ordinal);
            }));
        }

        private void Log(string text) =>
            _writer.Log(Microsoft.Extensions.Logging.LogLevel.Information, new EventId(1, "event"), text, null, static (state, _) => state);

        public override void Check()
        {
            Assert.True(_isThere, "what was flushed is not written");
            Assert.Equal(["one", "three", "two"],
                _output.ToString().Split('\n', StringSplitOptions.RemoveEmptyEntries).Select(static line => line.Split(' ')[^1]).Order());
        }
    }
}
