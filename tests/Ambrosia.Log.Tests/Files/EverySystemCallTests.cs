using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Protocol.Hashing;
using Ambrosia.TestKit;

namespace Ambrosia.Log.Tests;

/// <summary>
/// A life with appends, rotations, checkpoints, truncations and a take-over on a real file system, of which the Nth system call is answered
/// otherwise, for every N: interrupted or short, the files are the same to the byte; failed, once or for good, what was acknowledged is
/// there at the next start.
/// </summary>
public sealed class EverySystemCallTests : IDisposable
{
    private const int Eio = 5, Emfile = 24, Enospc = 28;

    private readonly string _root = Directory.CreateDirectory(
        Path.Combine(Directory.Exists("/dev/shm") ? "/dev/shm" : Path.GetTempPath(), $"ambrosia-calls-{Guid.NewGuid():N}")).FullName;
    private int _made;

    public void Dispose() => Directory.Delete(_root, recursive: true);

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Run_AnyCallInterruptedOrShort_LeavesTheSameFiles(bool isShort)
    {
        Dictionary<string, uint> expected = Run(static _ => default, out PlannedCalls.Plan calls);
        Assert.True(calls.Calls > 300, $"{calls.Calls} calls");
        int fired = 0;
        (int first, int step) = TestScale.Sample(5);
        for (int at = 1 + first; at <= calls.Calls; at += step)
        {
            int call = at;
            Dictionary<string, uint> files = Run(
                n => n != call && n != call + 1 ? default : isShort ? new PlannedCalls.Answer(IsShort: true)
                    : new PlannedCalls.Answer(Libc.Interrupted), out PlannedCalls.Plan planned);
            Assert.True(expected.SequenceEqual(files), $"call {at}: {string.Join(' ', files.Except(expected).Select(static f => f.Key))}");
            fired += planned.Fired;
        }
        Assert.True(fired >= calls.Calls / step);
    }

    [Theory]
    [InlineData(Eio, false)]
    [InlineData(Eio, true)]
    [InlineData(Enospc, false)]
    [InlineData(Enospc, true)]
    [InlineData(Emfile, false)]
    [InlineData(Emfile, true)]
    public void Start_AfterAnyCallFailed_HasEverythingAcknowledged(int errno, bool forGood)
    {
        int failures = 0;
        (int first, int step) = TestScale.Sample(5);
        for (int at = 1 + first; ; at += step)
        {
            (int call, string dir) = (at, NewDirectory());
            var life = new TruncationScenario(rounds: 6);
            var calls = new PlannedCalls.Plan(n => n == call || (forGood && n > call) ? new PlannedCalls.Answer(errno) : default);
            Exception? death = Record.Exception(() => Serve(life, calls, dir));
            if (calls.Fired == 0) break;
            Assert.True(death is null or IOException || (death is LogDamage && errno == Eio), $"call {at}: {death}");
            if (death is not null) failures++;
            var next = new PlannedCalls(new PlannedCalls.Plan(static _ => default));
            life.Check(new PosixFileSystem(next), dir, $"call {at} failed with {errno}, for good: {forGood}");
            next.Die();
            Directory.Delete(dir, recursive: true);
        }
        Assert.True(failures > 200 / step, $"{failures} failures");
    }

    /// <summary>The control: a byte that a short write leaves out is a difference.</summary>
    [Fact]
    public void Run_OtherContent_IsNoticed()
    {
        string dir = NewDirectory();
        File.WriteAllBytes(Path.Combine(dir, "a"), [1, 2]);
        Dictionary<string, uint> before = Describe(dir);
        File.WriteAllBytes(Path.Combine(dir, "a"), [1, 3]);
        Assert.False(before.SequenceEqual(Describe(dir)));
    }

    private Dictionary<string, uint> Run(Func<int, PlannedCalls.Answer> plan, out PlannedCalls.Plan calls)
    {
        string dir = NewDirectory();
        calls = new PlannedCalls.Plan(plan);
        var life = new TruncationScenario(rounds: 6);
        Serve(life, calls, dir);
        Assert.True(life.Recycled > 0 && life.Durable == life.Appended.Count);
        Dictionary<string, uint> files = Describe(dir);
        Directory.Delete(dir, recursive: true);
        return files;
    }

    private static void Serve(TruncationScenario life, PlannedCalls.Plan plan, string dir)
    {
        foreach (string replica in new[] { "r0", "r1" })
        {
            var process = new PlannedCalls(plan);
            try
            {
                life.Serve(new PosixFileSystem(process), dir, replica);
            }
            finally
            {
                process.Die();
            }
        }
    }

    private string NewDirectory() => Directory.CreateDirectory(Path.Combine(_root, $"{++_made}")).FullName;

    private static Dictionary<string, uint> Describe(string dir) =>
        new(Directory.GetFiles(dir).Order(StringComparer.Ordinal)
            .Select(static path => KeyValuePair.Create(Path.GetFileName(path), Crc32C.Of(File.ReadAllBytes(path)))));
}
