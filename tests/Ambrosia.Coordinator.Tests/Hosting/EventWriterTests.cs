using System.Text;
using System.Text.Json;
using Ambrosia.Coordinator.Hosting;
using Ambrosia.Coordinator.LogFeed;
using Ambrosia.Coordinator.Links;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Protocol;
using Ambrosia.TestKit;
using CRA.Catalog;
using Microsoft.Extensions.Logging;

namespace Ambrosia.Coordinator.Tests;

/// <summary>Events as lines: their forms, and an output that fails, blocks or comes back.</summary>
public sealed class EventWriterTests
{
    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(30);

    /// <summary>An output that throws or blocks as long as it is told to.</summary>
    private sealed class Faulty : TextWriter
    {
        private readonly StringBuilder _written = new();

        public volatile bool Throws;

        public ManualResetEventSlim MayWrite { get; } = new(true);

        public volatile bool IsEntered;

        public override Encoding Encoding => Encoding.UTF8;

        public string[] Lines
        {
            get
            {
                lock (_written) return _written.ToString().Split('\n', StringSplitOptions.RemoveEmptyEntries);
            }
        }

        public override void Write(char value) => Write(value.ToString());

        public override void Write(string? value)
        {
            IsEntered = true;
            MayWrite.Wait();
            if (Throws) throw new IOException("no space left on the device");
            lock (_written) _written.Append(value);
        }
    }

    private static EventFormat FormatOf(EventEncoding format = EventEncoding.Text, bool journal = false, bool named = false) => new(
        new CoordinatorOptions
        {
            LogDirectory = "/l", Catalog = CatalogPlace.OfDirectory("/c"), Instance = "bank", EventEncoding = format, NamesItsEvents = named,
        }, journal, new FakeTime());

    private static string LineOf(EventFormat format, Action<ILogger> log)
    {
        var output = new Faulty();
        using (var writer = new EventWriter(output, format)) log(writer);
        return Assert.Single(output.Lines);
    }

    [Fact]
    public void Output_ThatThrows_LosesLinesAndCountsThem()
    {
        var output = new Faulty { Throws = true };
        using var writer = new EventWriter(output, FormatOf());
        for (int i = 0; i < 3; i++) writer.StopAsked();
        Assert.True(writer.Flush());
        Assert.Empty(output.Lines);
        output.Throws = false;
        writer.SpaceReturned();
        Assert.True(SpinWait.SpinUntil(() => output.Lines.Length == 2, s_patience));
        Assert.Contains("log.space.returned", output.Lines[0]);
        Assert.Contains("coordinator.events.lost events: 3 could not be written", output.Lines[1]);
    }

    [Fact]
    public void Output_ThatIsDisposed_ThrowsNothingAtThoseWhoLog()
    {
        var output = new StringWriter();
        output.Dispose();
        using var writer = new EventWriter(output, FormatOf());
        writer.StopAsked();
        Assert.True(writer.Flush());
    }

    /// <summary>More than the queue takes is logged meanwhile; each is written or counted, and those that came first are written.</summary>
    [Fact]
    public void Output_ThatBlocks_BlocksNobodyAndLosesWhatHasNoRoom()
    {
        const int Logged = EventWriter.LinesMax + 1_000;
        var output = new Faulty();
        output.MayWrite.Reset();
        using var writer = new EventWriter(output, FormatOf());
        writer.Exited(0, "x");
        Assert.True(SpinWait.SpinUntil(() => output.IsEntered, s_patience)); // it takes nothing more from the queue
        for (int i = 1; i < Logged; i++) writer.Exited(i, "x");
        Assert.False(writer.Flush());
        output.MayWrite.Set();
        Assert.True(SpinWait.SpinUntil(() => output.Lines.Any(static line => line.Contains("events.lost")), s_patience));
        Assert.True(SpinWait.SpinUntil(writer.Flush, s_patience));
        string[] lines = output.Lines;
        string count = Assert.Single(lines, static line => line.Contains("events.lost"));
        int written = lines.Length - 1, lost = int.Parse(count.Split("events: ")[1].Split(' ')[0]);
        Assert.Equal(Logged, written + lost);
        Assert.Equal(EventWriter.LinesMax + 1, written);
        Assert.Equal(Enumerable.Range(0, written).Select(static i => $"exit {i}: x"),
            lines.Where(static line => line.Contains(" exit ")).Select(static line => line[(line.IndexOf(" exit ", 40) + 1)..]));
    }

    [Fact]
    public void Output_ThatBlocks_BoundsTheCharactersToo()
    {
        var output = new Faulty();
        output.MayWrite.Reset();
        using var writer = new EventWriter(output, FormatOf());
        string longText = new('x', EventFormat.TextCharsMax);
        for (int i = 0; i < 1_000; i++) writer.Exited(i, longText);
        output.MayWrite.Set();
        Assert.True(SpinWait.SpinUntil(() => output.Lines.Any(static line => line.Contains("events.lost")), s_patience));
        Assert.InRange(output.Lines.Sum(static line => line.Length), 0, EventWriter.CharsMax + (3 * EventFormat.TextCharsMax));
    }

    [Fact]
    public void Text_HasTimeLevelAndName()
    {
        string line = LineOf(FormatOf(), static logger => logger.LinkLost("peer", "the cable was cut", 0));
        Assert.Matches(@"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z info  link\.lost link peer: lost: the cable was cut$", line);
        Assert.EndsWith(" info  coordinator.stopping bank: stopping", LineOf(FormatOf(named: true), static logger => logger.StopAsked()));
    }

    [Fact]
    public void Text_ForTheJournal_HasThePriorityAndNoTime()
    {
        EventFormat journal = FormatOf(journal: true);
        Assert.Equal("<6>coordinator.stopping stopping", LineOf(journal, static logger => logger.StopAsked()));
        Assert.StartsWith("<3>log.full THE LOG", LineOf(journal, static logger => logger.DiskFull(new Lsn(1))));
        Assert.StartsWith("<4>admin.missing no admin socket: x", LineOf(journal, static logger => logger.AdminMissing("x")));
        Assert.Equal("<2>coordinator.exit exit 74: x", LineOf(journal, static logger => logger.Exited(74, "x")));
    }

    [Fact]
    public void Text_OfOthers_BeginsNoLineAndIsCut()
    {
        string line = LineOf(FormatOf(journal: true), static logger => logger.Exited(1, "a\n<0>b\u001b[2J" + new string('x', 100_000)));
        Assert.StartsWith("<2>coordinator.exit exit 1: a <0>b\\u001b[2Jxxx", line);
        Assert.InRange(line.Length, EventFormat.TextCharsMax, EventFormat.TextCharsMax + 100);
    }

    [Fact]
    public void Json_HasAllFieldsWithTheirKinds()
    {
        JsonElement ready = JsonDocument.Parse(LineOf(FormatOf(EventEncoding.Json), static logger =>
            logger.BecameReady("bank", new Epoch(3), 17, 2.75, "127.0.0.1:1", "unix:/x"))).RootElement;
        Assert.Equal(["time", "level", "instance", "event", "text", "epoch", "replayed", "ms", "address", "app"],
            ready.EnumerateObject().Select(static member => member.Name));
        Assert.Equal(("info", "bank", "coordinator.ready", "ready instance=bank epoch=3 replayed=17 in 3ms"),
            (ready.GetProperty("level").GetString(), ready.GetProperty("instance").GetString(), ready.GetProperty("event").GetString(),
                ready.GetProperty("text").GetString()));
        Assert.Equal((3, 17, 2.75, "unix:/x"), (ready.GetProperty("epoch").GetInt32(), ready.GetProperty("replayed").GetInt32(),
            ready.GetProperty("ms").GetDouble(), ready.GetProperty("app").GetString()));
    }
}
