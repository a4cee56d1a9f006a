using System.Buffers;
using System.Globalization;
using Ambrosia.Images.Json;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Payloads;
using Ambrosia.Protocol.Records;

namespace Ambrosia.Benchmarks.Images;

/// <summary>
/// One process's part of a measurement: a state is made and its image is taken, or an image is restored. What it found goes to the standard
/// output, one line "name value" each. The image is written to a file and read from one, since memory is what is measured.
/// </summary>
internal static class ImageRound
{
    internal const string Take = "images-take", Restore = "images-restore", Show = "images-show";

    /// <summary>Each figure of speed is the best of so many.</summary>
    internal const int Rounds = 3;

    internal static void RunTake(string kind, long mebibytes, string file)
    {
        var rig = new SessionRig(ImmortalDefinition.Of<States>());
        byte[] mark = SessionRig.RecordFrame(new CheckpointMarkRecord(new Epoch(1), 0, SessionRig.Replica));
        rig.Execute(mark); // what is compiled and made at the first image
        rig.Execute(SessionRig.RunFrame(BindingSteadyPath.Message("IStates", "Fill", Arguments(kind, mebibytes << 20)), 1));
        Settle();
        Report("live", GC.GetTotalMemory(forceFullCollection: true));
        Report("resident", StatusBytes("VmRSS:"));
        File.WriteAllText("/proc/self/clear_refs", "5"); // the peak begins anew
        long bytes = 0;
        TimeSpan least = Measured(() => rig.ExecuteForImage(mark, piece => bytes += piece.Length));
        Report("peak", StatusBytes("VmHWM:"));
        Report("image", bytes);
        for (int i = 1; i < Rounds; i++)
            if (Measured(() => rig.ExecuteForImage(mark, static _ => { })) is var time && time < least) least = time;
        Report("ns", (long)least.TotalNanoseconds);
        using FileStream to = File.Create(file);
        rig.ExecuteForImage(mark, piece => to.Write(piece));
    }

    internal static void RunRestore(string file)
    {
        using FileStream from = File.OpenRead(file);
        object? session = null;
        Report("ns", (long)Measured(() => session = SessionRig.Restore(ImmortalDefinition.Of<States>(), from)).TotalNanoseconds);
        Report("peak", StatusBytes("VmHWM:"));
        Settle();
        Report("live", GC.GetTotalMemory(forceFullCollection: true));
        GC.KeepAlive(session);
    }

    /// <summary>Shows the state as <c>ambrosia state --json</c> does.</summary>
    internal static void RunShow(string file)
    {
        using var image = new LargeBuffer();
        ReadOnlySpan<byte> left = File.ReadAllBytes(file);
        while (FrameReader.TryRead(left, 0, SizeLimits.MessageBytesMaxDefault, checkPayload: false, out FrameHeader header,
            out ReadOnlySpan<byte> payload, out int size) == DecodeStatus.Ok)
        {
            if (header.Type == FrameType.ImageChunk) image.Append(payload);
            left = left[size..];
        }
        long shown = 0;
        Report("ns", (long)Measured(() =>
            StateJson.Write(
                image, ImageOrigin.Of("ckpt.1", new Lsn(1)), piece => shown += piece.Length, isIndented: false)).TotalNanoseconds);
        Report("json", shown);
    }

    /// <summary>Returns the processor time of all threads, so that neighbours on the machine count little.</summary>
    private static TimeSpan Measured(Action measured)
    {
        TimeSpan before = Environment.CpuUsage.TotalTime;
        measured();
        return Environment.CpuUsage.TotalTime - before;
    }

    private static byte[] Arguments(string kind, long bytes)
    {
        var arguments = new ArrayBufferWriter<byte>();
        var to = new CborWriter(arguments);
        to.WriteString(kind);
        to.WriteInt64(bytes);
        to.Flush();
        return arguments.WrittenSpan.ToArray();
    }

    /// <summary>Leaves of the heap what is alive, and gives the rest back to the operating system.</summary>
    private static void Settle()
    {
        GC.Collect(GC.MaxGeneration, GCCollectionMode.Aggressive, blocking: true, compacting: true);
        GC.WaitForPendingFinalizers();
        GC.Collect(GC.MaxGeneration, GCCollectionMode.Aggressive, blocking: true, compacting: true);
    }

    private static void Report(string name, long value) =>
        Console.WriteLine(string.Create(CultureInfo.InvariantCulture, $"{name} {value}"));

    private static long StatusBytes(string key)
    {
        string line = File.ReadLines("/proc/self/status").First(each => each.StartsWith(key, StringComparison.Ordinal));
        return long.Parse(line.AsSpan(key.Length).Trim().TrimEnd("kB").Trim(), CultureInfo.InvariantCulture) * 1024;
    }
}
