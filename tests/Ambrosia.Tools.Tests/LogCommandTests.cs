using System.Text.Json;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Runs;
using Ambrosia.Tools.Commands;

namespace Ambrosia.Tools.Tests;

public sealed class LogCommandTests : IDisposable
{
    private readonly TemporaryDirectory _temporary = new();
    private readonly string _log;
    private readonly string _contract;

    public LogCommandTests()
    {
        _log = _temporary.Of("counter");
        _contract = Manifest.Write(_temporary);
        SampleLog.Make(_log);
    }

    public void Dispose() => _temporary.Dispose();

    [Fact]
    public void Summary_Log_TellsInstanceChainAndEnd()
    {
        ToolRun run = ToolRun.Of("log", _log, "--json");

        Assert.Equal(ToolExit.Fine, run.Code);
        Assert.Equal("counter", run.Json.GetProperty("instance").GetString());
        Assert.Equal(1, run.Json.GetProperty("epoch").GetInt32());
        JsonElement segment = Assert.Single(run.Json.GetProperty("segments").EnumerateArray().ToArray());
        Assert.Equal("log.1.1", segment.GetProperty("file").GetString());
        Assert.False(segment.TryGetProperty("endLsn", out _));
        ToolRun pages = ToolRun.Of("log", _log, "--pages", "--json");
        Assert.Equal(run.Json.GetProperty("end").GetProperty("lsn").GetUInt64(),
            pages.JsonLines.Last().GetProperty("end").GetProperty("lsn").GetUInt64());
        Assert.Contains("log.1.1", ToolRun.Of("log", _log).Output);
    }

    [Fact]
    public void Records_WithContract_HaveNamesAndValues()
    {
        ToolRun run = ToolRun.Of("log", _log, "--records", "--contract", _contract);

        Assert.Equal(ToolExit.Fine, run.Code);
        Assert.Contains($"fork        ada      #1  IShop.Everything({Manifest.EverythingText})", run.Output);
        Assert.Contains("fork        ada      #2  IShop.Raw(content: h'fffe')", run.Output);
        Assert.Contains("call        bob      #1  call 17  IShop.Answer()", run.Output);
        Assert.Contains("result      bob      #2  call 5  IShop.Answer = null", run.Output);
        Assert.Contains("failure     bob      #3  call 6  IShop.Answer failed: Shop.Closed: at night <- Inner: why", run.Output);
        Assert.Contains("impulse     counter  #1  IShop.Two(first: 1, second: \"\\u001b[2J\")", run.Output);
        Assert.Contains("trim        upTo=[ada #9]", run.Output);
        Assert.Contains("method 99(0, h'", run.Output);
        Assert.DoesNotContain('\u001b', run.Output);
    }

    /// <summary>Coordinators keep what apps state beside the log; what this tool cannot read there does not stop it.</summary>
    [Fact]
    public void Records_ContractsStandInTheLogsDirectory_HaveNames()
    {
        Directory.CreateDirectory(Path.Combine(_log, "contracts"));
        File.Copy(_contract, Path.Combine(_log, "contracts", "00000000000000a1.json"));
        File.WriteAllText(Path.Combine(_log, "contracts", "00000000000000a2.json"), "{\"format\":9}");
        ToolRun run = ToolRun.Of("log", _log, "--records");

        Assert.Equal(ToolExit.Fine, run.Code);
        Assert.Contains("call        bob      #1  call 17  IShop.Answer()", run.Output);
        Assert.Equal(ToolExit.Fine, ToolRun.Of("log", _log, "--method", "IShop.Answer").Code);
    }

    /// <summary>
    /// What made a message stands behind it, and the trace of the one that is sampled; blocks that are malformed say nothing.
    /// </summary>
    [Fact]
    public void Records_RunsThatSayTheirCause_ShowIt()
    {
        byte[] one = Message.Of(99, [1]), cause = [5, 1, 16, .. BitConverter.GetBytes(4_160ul), .. BitConverter.GetBytes(4_288ul)];
        byte[] trace = [1, 1, 26, 0, .. Enumerable.Range(1, 16).Select(static i => (byte)i), 0, 0, 0, 0, 0, 0, 0, 0xA1, 1];
        string log = _temporary.Of("causes");
        using (LogMaker maker = LogMaker.Start(log))
        {
            maker.Begin();
            maker.Peer(1, "ada");
            maker.RunWith([.. cause, .. trace], MessageKind.Fork, 1, one, one);
            maker.RunWith([5, 1, 16, .. new byte[8], .. new byte[8]], MessageKind.Fork, 1, one);
            maker.RunWith([5, 1, 1, 9, 1, 1, 0], MessageKind.Fork, 1, one);
            maker.Commit();
        }
        string output = ToolRun.Of("log", log, "--records", "--sender", "ada").Output;
        string[] lines = [.. output.Split('\n').Where(static line => line.Contains("fork"))];

        Assert.EndsWith("#1  method 99(1)  by 4160..4288", lines[0]);
        Assert.EndsWith("#2  method 99(1)  by 4160..4288  trace 0102030405060708090a0b0c0d0e0f10-00000000000000a1-01", lines[1]);
        Assert.EndsWith("#3  method 99(1)  by 0", lines[2]);
        Assert.EndsWith("#4  method 99(1)", lines[3]);
        JsonElement first = ToolRun.Of("log", log, "--records", "--sender", "ada", "--json").JsonLines.First();
        Assert.Equal(4_288, first.GetProperty("cause").GetProperty("last").GetInt32());
    }

    [Fact]
    public void Records_WithoutContract_AreInDiagnosticNotation()
    {
        ToolRun run = ToolRun.Of("log", _log, "--records");

        Assert.Contains("method 1(true, -5, 18446744073709551615, 1.5, [1250, 0, 0, 131072], 120, \"Ada\", null, h'0102', ", run.Output);
        Assert.Contains("method 2(h'fffe')", run.Output); // no CBOR: raw, it seems
    }

    [Fact]
    public void Records_AsJson_AreOneWholeObjectALine()
    {
        ToolRun run = ToolRun.Of("log", _log, "--records", "--contract", _contract, "--json");
        JsonElement[] lines = [.. run.JsonLines];

        Assert.Equal(3 + 2 + 1 + 1 + 1 + 1 + 3 + SampleLog.Forks + 1 + 1 + 1, lines.Length); // the end is the last
        Assert.All(lines[..^1],
            static line => Assert.Matches("^2026-11-21T00:00:[0-9.]+Z|2026-11-21T00:01:[0-9.]+Z$", line.GetProperty("time").GetString()));
        JsonElement everything = lines.First(static line => line.GetProperty("kind").GetString() == "fork");
        Assert.Equal("IShop.Everything", everything.GetProperty("method").GetProperty("name").GetString());
        Assert.Equal("12.50", everything.GetProperty("arguments")[4].GetProperty("value").GetString());
        Assert.Equal("decimal", everything.GetProperty("arguments")[4].GetProperty("type").GetString());
        Assert.Equal("firstStart", lines[0].GetProperty("kind").GetString());
        Assert.Equal("counter", lines[0].GetProperty("fields").GetProperty("instance").GetString());
    }

    [Fact]
    public void Records_SpanningPages_IsOneEntryAndCutUnlessFull()
    {
        ToolRun cut = ToolRun.Of("log", _log, "--sender", "ada", "--method", "Raw", "--contract", _contract, "--tail", "2");
        Assert.Contains("…'(100000 bytes)", cut.Output);
        ToolRun full = ToolRun.Of("log", _log, "--sender", "ada", "--method", "Raw", "--contract", _contract, "--tail", "2", "--full");
        Assert.Contains(new string('0', 200_000), full.Output);
    }

    [Theory]
    [InlineData(2, "--kind", "peer")]
    [InlineData(4, "--sender", "ada")]
    [InlineData(1, "--sender", "counter")]
    [InlineData(SampleLog.Forks + 3, "--sender", "bob")]
    [InlineData(0, "--sender", "eve")]
    [InlineData(3, "--method", "IShop.Raw")]
    [InlineData(3, "--method", "2")]
    [InlineData(3, "--method", "0x2")]
    [InlineData(SampleLog.Forks, "--method", "99")]
    [InlineData(1, "--call", "17")]
    [InlineData(1, "--call", "6", "--kind", "failure")]
    [InlineData(0, "--call", "6", "--kind", "result")]
    [InlineData(5, "--head", "5")]
    [InlineData(5, "--kind", "fork", "--head", "5")]
    [InlineData(0, "--since", "2027-01-01")]
    [InlineData(0, "--until", "2026-11-20T23:59:59Z")]
    [InlineData(0, "--since", "0s")]
    public void Records_Filtered_AreThoseAskedFor(int count, params string[] filter)
    {
        ToolRun run = ToolRun.Of(["log", _log, "--contract", _contract, "--json", .. filter]);

        Assert.Equal(ToolExit.Fine, run.Code);
        Assert.Equal(count, run.JsonLines.Count(static line => line.TryGetProperty("lsn", out _)));
    }

    [Fact]
    public void Records_ByPositionAndTime_AgreeWithAllOfThem()
    {
        JsonElement[] all = [.. Entries("--records")];
        for (int at = 0; at < all.Length; at += 7)
        {
            ulong lsn = all[at].GetProperty("lsn").GetUInt64();
            string time = all[at].GetProperty("time").GetString()!;
            Assert.Equal(all.Count(line => line.GetProperty("lsn").GetUInt64() >= lsn), Entries("--from", $"{lsn}").Count());
            Assert.Equal(all.Count(line => line.GetProperty("lsn").GetUInt64() < lsn), Entries("--to", $"{lsn}").Count());
            Assert.Equal(all.Count(line => string.CompareOrdinal(line.GetProperty("time").GetString(), time) >= 0),
                Entries("--since", time).Count());
            Assert.Equal(all.Count(line => string.CompareOrdinal(line.GetProperty("time").GetString(), time) <= 0),
                Entries("--until", time).Count());
        }
    }

    [Theory]
    [InlineData(1)]
    [InlineData(10)]
    [InlineData(1000)]
    public void Tail_Records_AreTheLastOfAll(int count)
    {
        string[] all = [.. Entries("--records").Select(static line => line.ToString())];
        Assert.Equal(all[Math.Max(0, all.Length - count)..], Entries("--tail", $"{count}").Select(static line => line.ToString()));
    }

    [Fact]
    public void Tail_LogOfManySegments_IsTheLastOfAll()
    {
        string log = _temporary.Of("long");
        using (LogMaker maker = LogMaker.Start(log))
        {
            maker.Peer(1, "ada");
            for (int i = 0; i < 300; i++)
            {
                maker.Run(MessageKind.Fork, 1, Message.Of(5, (ref CborWriter to) => { to.WriteInt64(i); to.WriteBytes(new byte[5_000]); }));
                maker.Commit();
            }
        }
        Assert.True(ToolRun.Of("log", log, "--json").Json.GetProperty("segments").GetArrayLength() > 4);
        foreach (int count in (int[])[1, 20, 100, 250])
        {
            JsonElement[] tail = [
                .. ToolRun.Of("log", log, "--tail", $"{count}", "--json")
                    .JsonLines.Where(static line => line.TryGetProperty("lsn", out _))];
            Assert.Equal(count, tail.Length);
            Assert.Equal(Enumerable.Range(301 - count, count), tail.Select(static line => line.GetProperty("number").GetInt32()));
            Assert.All(tail, static line => Assert.Equal("ada", line.GetProperty("from").GetString()));
        }
    }

    [Fact]
    public void Log_TornTail_IsToldAndFine()
    {
        string segment = Path.Combine(_log, "log.1.1");
        JsonElement last = ToolRun.Of("log", _log, "--pages", "--tail", "1", "--json").JsonLines.First();
        LogMaker.Tear(segment, last.GetProperty("offset").GetInt64() + 70);
        ToolRun run = ToolRun.Of("log", _log, "--records", "--json");

        Assert.Equal(ToolExit.Fine, run.Code);
        Assert.Equal(4_096, run.JsonLines.Last().GetProperty("end").GetProperty("tornBytes").GetInt64());
        Assert.Contains("torn tail", ToolRun.Of("log", _log).Output);
    }

    [Fact]
    public void Log_DamagedInTheMiddle_IsToldAtItsPlaceAndReadOn()
    {
        JsonElement[] before = [.. Entries("--records")];
        JsonElement page = ToolRun.Of("log", _log, "--pages", "--json").JsonLines.ElementAt(10);
        using (FileStream file = File.OpenWrite(Path.Combine(_log, "log.1.1")))
        {
            file.Position = page.GetProperty("offset").GetInt64() + 100;
            file.WriteByte(0xEE);
        }
        ToolRun run = ToolRun.Of("log", _log, "--records", "--json");

        Assert.Equal(ToolExit.Damage, run.Code);
        JsonElement damage = Assert.Single(run.JsonLines, static line => line.TryGetProperty("damage", out _)).GetProperty("damage");
        Assert.Equal(page.GetProperty("lsn").GetUInt64(), damage.GetProperty("lsn").GetUInt64());
        Assert.Equal(page.GetProperty("offset").GetInt64(), damage.GetProperty("offset").GetInt64());
        Assert.Equal(before.Length - page.GetProperty("records").GetInt32(),
            run.JsonLines.Count(static line => line.TryGetProperty("kind", out _)));
        Assert.Equal(ToolExit.Damage, ToolRun.Of("log", _log).Code);
    }

    [Fact]
    public void Log_BeingWritten_IsReadToWhereItIs()
    {
        string log = _temporary.Of("live");
        using LogMaker maker = LogMaker.Start(log);
        maker.Peer(1, "ada");
        for (int i = 0; i < 20; i++)
        {
            maker.Run(MessageKind.Fork, 1, Message.Of(5, [1]));
            maker.Commit();
            ToolRun run = ToolRun.Of("log", log, "--sender", "ada", "--json");
            Assert.Equal(ToolExit.Fine, run.Code);
            Assert.Equal(i + 2, run.Lines.Length);
            Assert.Equal(ToolExit.Fine, ToolRun.Of("verify", log).Code);
        }
    }

    [Fact]
    public void Tool_EveryReadingCommand_ChangesNothing()
    {
        string before = Snapshot.Of(_log);
        foreach (string[] args in (string[][])[["log", _log], ["log", _log, "--records"], ["log", _log, "--pages", "--tail", "3"],
            ["verify", _log], ["doctor", _log]])
            Assert.NotEqual(ToolExit.Misuse, ToolRun.Of(args).Code);
        Assert.Equal(before, Snapshot.Of(_log));
        File.AppendAllText(Path.Combine(_log, "log.1.1"), "x");
        Assert.NotEqual(before, Snapshot.Of(_log)); // negative control: a change is seen
    }

    [Theory]
    [InlineData("--since", "yesterday", "is no time")]
    [InlineData("--from", "-1", "'-1' of --from is no number from 0 to")]
    [InlineData("--to", "x", "'x' of --to is no number")]
    [InlineData("--kind", "nope", "'nope' of --kind is no kind; give one of fork, call")]
    [InlineData("--contract", "none.json", "is not there")]
    [InlineData("--method", "IShop.Sell", "there is no method")]
    [InlineData("--head", "0", "from 1 to")]
    [InlineData("--head", "1", "exclude", "--tail", "2")]
    [InlineData("--pages", "--records", "exclude")]
    [InlineData("--pages", "--sender=ada", "shows no messages")]
    public void CommandLine_ThatMakesNoSense_EndsWith2(string option, string value, string says, params string[] more)
    {
        string[] contract = option == "--method" ? ["--contract", _contract] : [];
        ToolRun run = ToolRun.Of(["log", _log, option, value, .. more, .. contract]);

        Assert.Equal(ToolExit.Misuse, run.Code);
        Assert.Contains(says, run.Error);
        Assert.DoesNotContain("System.", run.Error);
    }

    private IEnumerable<JsonElement> Entries(params string[] filter) =>
        ToolRun.Of(["log", _log, "--json", .. filter]).JsonLines.Where(static line => line.TryGetProperty("kind", out _));
}
