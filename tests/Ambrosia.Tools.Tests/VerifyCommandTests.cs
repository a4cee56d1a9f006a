using System.Text.Json;
using Ambrosia.Log.Checkpoints;
using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Log.Instances;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Checkpoints;
using Ambrosia.Protocol.Records;
using Ambrosia.Protocol.Runs;
using Ambrosia.Tools.Commands;

namespace Ambrosia.Tools.Tests;

public sealed class VerifyCommandTests : IDisposable
{
    private readonly TemporaryDirectory _temporary = new();
    private readonly string _log;

    public VerifyCommandTests() => _log = _temporary.Of("counter");

    public void Dispose() => _temporary.Dispose();

    [Fact]
    public void Verify_WholeLog_IsSoundAndCountsWhatIsThere()
    {
        SampleLog.Make(_log);
        ToolRun run = ToolRun.Of("verify", _log, "--json");

        Assert.True(run.Code == ToolExit.Fine, run.Output);
        JsonElement report = run.Json;
        Assert.True(report.GetProperty("sound").GetBoolean());
        Assert.Equal(2 + 1 + 1 + 1 + 1 + SampleLog.Forks + 1 + 1, report.GetProperty("messages").GetInt32());
        Assert.Equal(2, report.GetProperty("records").GetProperty("peer").GetInt32());
        Assert.Empty(report.GetProperty("lost").EnumerateArray());
        Assert.True(report.GetProperty("restart").GetProperty("possible").GetBoolean());
        Assert.Contains(
            "ok: all that was read is sound, and nothing is missing of which the directory tells", ToolRun.Of("verify", _log).Output);
    }

    [Fact]
    public void Verify_AnyPageDamaged_IsFoundWithItsExtent()
    {
        SampleLog.Make(_log);
        JsonElement[] pages = [
            .. ToolRun.Of("log", _log, "--pages", "--json").JsonLines.Where(static line => line.TryGetProperty("lsn", out _))];
        string segment = Path.Combine(_log, "log.1.1");
        byte[] whole = File.ReadAllBytes(segment);
        for (int i = 0; i < pages.Length - 2; i += 3) // the last ones may be torn as well
        {
            byte[] damaged = [.. whole];
            damaged[pages[i].GetProperty("offset").GetInt64() + 20] ^= 4;
            File.WriteAllBytes(segment, damaged);
            ToolRun run = ToolRun.Of("verify", _log, "--json");

            Assert.Equal(ToolExit.Damage, run.Code);
            JsonElement loss = Assert.Single(run.Json.GetProperty("lost").EnumerateArray().ToArray());
            Assert.Equal(pages[i].GetProperty("lsn").GetUInt64(), loss.GetProperty("from").GetUInt64());
            Assert.Equal(segment, loss.GetProperty("why").GetProperty("file").GetString());
            Assert.Equal(loss.GetProperty("bytes").GetInt64(), run.Json.GetProperty("bytesLost").GetInt64());
            if (!IsSpanning(pages[i])) Assert.Equal(pages[i + 1].GetProperty("lsn").GetUInt64(), loss.GetProperty("to").GetUInt64());
            Assert.False(run.Json.GetProperty("restart").GetProperty("possible").GetBoolean());
        }
        File.WriteAllBytes(segment, whole);
        Assert.Equal(ToolExit.Fine, ToolRun.Of("verify", _log).Code);
    }

    [Fact]
    public void Verify_SeveralPagesDamaged_FindsAll()
    {
        SampleLog.Make(_log);
        JsonElement[] pages = [
            .. ToolRun.Of("log", _log, "--pages", "--json").JsonLines.Where(static line => line.TryGetProperty("lsn", out _))];
        foreach (int i in (int[])[2, 5, 9]) Overwrite("log.1.1", pages[i].GetProperty("offset").GetInt64() + 65);
        JsonElement report = ToolRun.Of("verify", _log, "--json").Json;

        Assert.Equal(3, report.GetProperty("lost").GetArrayLength());
        Assert.Equal(pages.Length - 3, report.GetProperty("pages").GetInt32());
        string text = ToolRun.Of("verify", _log).Output;
        Assert.Contains("unreadable: 4.0 KiB of log", text);
        Assert.Contains("a coordinator would halt (exit 65)", text);
    }

    [Fact]
    public void Verify_TornTail_IsSoundAndSaid()
    {
        SampleLog.Make(_log);
        JsonElement last = ToolRun.Of("log", _log, "--pages", "--tail", "1", "--json").JsonLines.First();
        LogMaker.Tear(Path.Combine(_log, "log.1.1"), last.GetProperty("offset").GetInt64() + 70);
        ToolRun run = ToolRun.Of("verify", _log);

        Assert.Equal(ToolExit.Fine, run.Code);
        Assert.Contains("torn tail: 4.0 KiB behind it are unfinished", run.Output);
    }

    /// <summary>Nothing states what stood behind; the length that the header states does.</summary>
    [Theory]
    [InlineData(0)]
    [InlineData(70)]
    public void Verify_FileCutBehindTheLastStatement_NamesFileAndBothLengths(int bytesOfThePage)
    {
        SampleLog.Make(_log);
        JsonElement last = ToolRun.Of("log", _log, "--pages", "--tail", "1", "--json").JsonLines.First();
        string segment = Path.Combine(_log, "log.1.1");
        long whole = new FileInfo(segment).Length, cut = last.GetProperty("offset").GetInt64() + bytesOfThePage;
        using (FileStream file = File.OpenWrite(segment)) file.SetLength(cut);
        int pages = ToolRun.Of("log", _log, "--pages", "--json").JsonLines.Count(static line => line.TryGetProperty("lsn", out _));
        ToolRun run = ToolRun.Of("verify", _log);

        Assert.Equal(ToolExit.Damage, run.Code);
        Assert.Contains(segment, run.Output);
        Assert.Contains($"a file of {whole} bytes, as its header states", run.Output);
        Assert.Contains($"one of {cut} bytes", run.Output);
        Assert.Contains("a coordinator would halt (exit 65)", run.Output);
        Assert.Equal(pages, ToolRun.Of("verify", _log, "--json").Json.GetProperty("pages").GetInt32()); // what is left is read
        Assert.True(pages > 5, $"{pages} pages");
        Assert.Throws<LogDamage>(() => LogMaker.Start(_log));
    }

    [Fact]
    public void Verify_HeaderDamaged_IsSaidAndTheRestIsRead()
    {
        for (int i = 0; i < 3; i++)
        {
            using LogMaker maker = LogMaker.Start(_log);
            if (i == 0) maker.Peer(1, "ada");
            maker.Append(new CheckpointMarkRecord(new Epoch(1), 0, "r0"));
            maker.Commit();
        }
        Overwrite("log.2.2", 40);
        ToolRun run = ToolRun.Of("verify", _log, "--json");

        Assert.Equal(ToolExit.Damage, run.Code);
        Assert.Contains("log.2.2",
            Assert.Single(run.Json.GetProperty("headers").EnumerateArray().ToArray()).GetProperty("file").GetString());
        // its own, and the one that it logged again
        Assert.Equal(2, run.Json.GetProperty("records").GetProperty("checkpointMark").GetInt32());
    }

    /// <summary>
    /// Whichever header it is, and whatever is asked: file and byte are named, what can be read is shown, no end is claimed.
    /// </summary>
    [Theory]
    [InlineData("log.1.1", "--json")]
    [InlineData("log.2.2", "--json")]
    [InlineData("log.3.3", "--json")]
    [InlineData("log.2.2", "--pages")]
    [InlineData("log.3.3", "--records")]
    public void Log_HeaderDamaged_IsAHaltThere(string file, string option)
    {
        for (int i = 0; i < 3; i++)
        {
            using LogMaker maker = LogMaker.Start(_log);
            if (i == 0) maker.Peer(1, "ada");
            maker.Append(new CheckpointMarkRecord(new Epoch(1), 0, "r0"));
            maker.Commit();
        }
        Overwrite(file, 40);
        ToolRun run = ToolRun.Of("log", _log, option);

        Assert.Equal(ToolExit.Damage, run.Code);
        Assert.DoesNotContain("the log ends at", run.Output);
        if (option == "--json")
        {
            JsonElement damage = run.Json.GetProperty("damage");
            Assert.Equal((Path.Combine(_log, file), 4_092),
                (damage.GetProperty("file").GetString(), damage.GetProperty("offset").GetInt32()));
            // what stands before the missing one cannot be reached
            Assert.InRange(run.Json.GetProperty("segments").GetArrayLength(), file == "log.2.2" ? 1 : 2, 2);
            Assert.Contains("a coordinator halts there (exit 65)", ToolRun.Of("log", _log).Output);
            return;
        }
        Assert.Contains($"DAMAGED  {Path.Combine(_log, file)}, byte 4092", run.Output);
        Assert.Contains(option == "--pages" ? "log.3.3" : "checkpointMark", run.Output);
    }

    [Fact]
    public void Verify_FenceGoneOrOld_IsDamage()
    {
        LogMaker.Start(_log).Dispose();
        LogMaker.Start(_log).Dispose();
        string fence = Directory.EnumerateFiles(_log, "epoch.*").Single();
        File.Move(fence, fence[..^1] + "1");
        Assert.Contains("the fence is older than the log", ToolRun.Of("verify", _log).Output);
        File.Delete(fence[..^1] + "1");
        ToolRun run = ToolRun.Of("verify", _log);
        Assert.Equal(ToolExit.Damage, run.Code);
        Assert.Contains("the fence of this instance", run.Output);
    }

    [Fact]
    public void Verify_InstanceFileDamaged_IsDamage()
    {
        LogMaker.Start(_log).Dispose();
        Overwrite("instance", 9);
        ToolRun run = ToolRun.Of("verify", _log, "--json");
        Assert.Equal(ToolExit.Damage, run.Code);
        Assert.EndsWith("instance", run.Json.GetProperty("damage").GetProperty("file").GetString());
    }

    /// <summary>The pages are sound and their content is wrong: only something that opens every record sees it.</summary>
    [Fact]
    public void Verify_NumbersWithAGap_AreFound()
    {
        using (LogMaker maker = LogMaker.Start(_log))
        {
            maker.Peer(1, "ada");
            maker.Run(MessageKind.Fork, 1, Message.Of(5, [1]));
            byte[] run = new byte[RunHeader.Bytes + 3];
            new RunHeader(MessageKind.Fork, false, 0, 1, 3, 1, 0, 1).Write(run);
            Message.Of(5, [1]).CopyTo(run, RunHeader.Bytes);
            maker.Append(run, RecordKind.Run);
            maker.Commit();
        }
        ToolRun verify = ToolRun.Of("verify", _log, "--json");

        Assert.Equal(ToolExit.Damage, verify.Code);
        Assert.Contains("begins at number 3, and 2 comes next",
            Assert.Single(verify.Json.GetProperty("violations").EnumerateArray().ToArray()).GetProperty("what").GetString());
    }

    [Fact]
    public void Verify_CheckpointDamaged_IsSaidAndTheLogSuffices()
    {
        SampleLog.Make(_log);
        MakeCheckpoint();
        ToolRun sound = ToolRun.Of("verify", _log, "--json");
        Assert.Equal(ToolExit.Fine, sound.Code);
        string file = sound.Json.GetProperty("restart").GetProperty("checkpoint").GetString()!;
        Assert.StartsWith("ckpt.", file);
        Assert.Contains("ckpt.", ToolRun.Of("log", _log).Output);

        Overwrite(file, 300);
        ToolRun run = ToolRun.Of("verify", _log, "--json");
        Assert.Equal(ToolExit.Damage, run.Code);
        Assert.Equal(1, run.Json.GetProperty("checkpoints").GetArrayLength());
        Assert.False(run.Json.GetProperty("restart").TryGetProperty("checkpoint", out _));
        Assert.True(run.Json.GetProperty("restart").GetProperty("possible").GetBoolean());
    }

    /// <summary>What lies below a sound checkpoint is history; the state survives its loss.</summary>
    [Fact]
    public void Verify_DamageBelowACheckpoint_LeavesARestart()
    {
        SampleLog.Make(_log);
        MakeCheckpoint();
        JsonElement page = ToolRun.Of("log", _log, "--pages", "--json").JsonLines.ElementAt(3);
        Overwrite("log.1.1", page.GetProperty("offset").GetInt64() + 65);
        ToolRun run = ToolRun.Of("verify", _log);

        Assert.Equal(ToolExit.Damage, run.Code);
        Assert.Contains("a coordinator starts all the same, from ckpt.", run.Output);
    }

    /// <summary>The newest segment is deleted together with what it held; the lock file of its primary still tells of it.</summary>
    [Fact]
    public void Verify_NewestSegmentIsGoneAndTheLockTellsOfIt_IsDamage()
    {
        for (int i = 0; i < 2; i++)
        {
            using LogMaker maker = LogMaker.Start(_log);
            maker.Peer((uint)i + 1, $"peer{i}");
            maker.Commit();
        }
        File.WriteAllBytes(Path.Combine(_log, "primary.2.r0"), [1, 0, 0, 0, 0, 0, 0, 0]); // it has beaten
        Assert.Equal(ToolExit.Fine, ToolRun.Of("verify", _log).Code);
        File.Delete(Path.Combine(_log, "log.2.2"));
        ToolRun run = ToolRun.Of("verify", _log);

        Assert.Equal(ToolExit.Damage, run.Code);
        Assert.Contains("primary.2.r0", run.Output);
        Assert.Contains("a coordinator would halt (exit 65)", run.Output);
        Assert.Throws<LogDamage>(() => LogMaker.Start(_log));
        Assert.Throws<LogDamage>(() => LogMaker.Start(_log));
    }

    [Fact]
    public void Verify_TornBelowTheNewestCheckpoint_SaysThatACoordinatorHalts()
    {
        SampleLog.Make(_log);
        MakeCheckpoint();
        JsonElement page = ToolRun.Of("log", _log, "--pages", "--json").JsonLines.ElementAt(8);
        LogMaker.Tear(Path.Combine(_log, "log.1.1"), page.GetProperty("offset").GetInt64());
        ToolRun run = ToolRun.Of("verify", _log);

        Assert.Equal(ToolExit.Damage, run.Code);
        Assert.Contains("a coordinator would halt (exit 65)", run.Output);
        Assert.DoesNotContain("nothing of the state is lost", run.Output);
        Assert.Throws<LogDamage>(() => LogMaker.Start(_log));
    }

    [Fact]
    public void Verify_HoleBelowTheNewestCheckpoint_IsMentioned()
    {
        for (int i = 0; i < 4; i++)
        {
            using LogMaker maker = LogMaker.Start(_log);
            if (i == 0) maker.Begin();
            maker.Peer((uint)i + 1, $"peer{i}");
            maker.Commit();
            maker.Append(new CheckpointMarkRecord(maker.Fence.Epoch, 0, "r0"));
            maker.Commit();
            maker.Append(new CheckpointMarkRecord(maker.Fence.Epoch, 0, "r0"));
            maker.Commit();
        }
        MakeCheckpoint(page: ^1);
        Assert.Equal(ToolExit.Fine, ToolRun.Of("verify", _log).Code);
        File.Delete(Path.Combine(_log, "log.2.2"));
        ToolRun run = ToolRun.Of("verify", _log);

        Assert.Equal(ToolExit.Damage, run.Code);
        Assert.Contains("log.2.2", run.Output);
        Assert.Contains("log.1.1", run.Output);
        Assert.Contains("a coordinator starts all the same, from ckpt.", run.Output);
    }

    private void MakeCheckpoint() => MakeCheckpoint(20);

    private void MakeCheckpoint(Index page)
    {
        JsonElement[] pages = [
            .. ToolRun.Of("log", _log, "--pages", "--json")
                .JsonLines.Where(static line => line.TryGetProperty("kind", out JsonElement kind) && kind.GetString() == "records")];
        MakeCheckpoint(pages[page]);
    }

    private void MakeCheckpoint(JsonElement page)
    {
        var files = new PosixFileSystem();
        InstanceIdentity identity = InstanceDirectory.TryRead(files, _log)!;
        var lsn = new Lsn(page.GetProperty("lsn").GetUInt64());
        ulong hash = Convert.ToUInt64(page.GetProperty("previousHash").GetString()![2..], 16);
        var header = new CheckpointHeader(0, identity.Uuid, lsn, lsn, new Epoch(1), 7, 1, 1_000_000, hash, "r0");
        using var writer = new CheckpointWriter(files, _log, identity, header, ICrashPoints.None);
        writer.Write(CheckpointSection.CoordinatorPart, new CoordinatorPart(
            [new CheckpointPeer(1, new InstanceId("ada"), Guid.NewGuid(), new Epoch(1), 0),
                new CheckpointPeer(2, new InstanceId("bob"), Guid.NewGuid(), new Epoch(1), 0)], [], [], Lsn.Zero, []).ToBytes());
        writer.Write(CheckpointSection.Image, new byte[5_000]);
        writer.Finish();
        Assert.True(
            writer.Publish(new Lsn(ToolRun.Of("log", _log, "--json").Json.GetProperty("end").GetProperty("durableUpTo").GetUInt64())));
    }

    private static bool IsSpanning(JsonElement page) => page.GetProperty("kind").GetString() is "begins" or "continues";

    private void Overwrite(string name, long offset)
    {
        using FileStream file = File.Open(Path.Combine(_log, name), FileMode.Open, FileAccess.ReadWrite);
        file.Position = offset;
        int was = file.ReadByte();
        file.Position = offset;
        file.WriteByte((byte)(was ^ 0x5A));
    }
}
