namespace Ambrosia.Suspension.Tests;

/// <summary>
/// The real coordinator and an app that is compiled again while recorded inputs stand behind the newest checkpoint: what they call is held
/// against the new build before anything is executed.
/// </summary>
public sealed class RedeployTests : IDisposable
{
    private const string Immortal = "Demo.Stock";

    private const string Source = """
        using System;
        using Ambrosia;
        namespace Demo;
        public interface IStock { [MethodId(1)] void Take(int n); [MethodId(2)] void Audit(); [MethodId(3)] Call<long> Slow(); }
        public sealed partial class Stock : Immortal<IStockProxy>, IStock
        {
            private long left = 100_000, audits;
            protected override void OnFirstStart()
            {
                for (int i = 0; i < 261; i++) thisProxy.TakeFork(1);
            }
            public void Take(int n)
            {
                left -= Price(n);
                /*fork*/
                if (left == 99_739) Console.WriteLine("stock 99739");
            }
            private static int Price(int n) => n * 1 /*price*/;
            public void Audit() => audits += 1 /*audit*/;
            public async Call<long> Slow() => await thisProxy.SlowAsync() + 1;
        }
        """;

    private readonly string _root = Directory.CreateTempSubdirectory("ambrosia-redeploy-").FullName;
    private readonly string _log;

    public RedeployTests() => _log = Path.Combine(_root, "log");

    public void Dispose() => Directory.Delete(_root, recursive: true);

    /// <summary>A log without a checkpoint, in which the first build has taken 261 times.</summary>
    private void Record()
    {
        using var process = new CoordinatorProcess(_log, Build("first", Source), Immortal);
        process.Await("stock 99739");
        process.Await("ready ");
        process.Kill();
    }

    private UpgradeTests.Build Build(string name, string source) => new(_root, name, source);

    private UpgradeTests.Build Edited(string name, string from, string to) => Build(name, Variant.Edit(Source, (from, to)));

    private string RefusalOf(UpgradeTests.Build build)
    {
        using var process = new CoordinatorProcess(_log, build, Immortal);
        Assert.Equal(2, process.AwaitExit());
        Assert.DoesNotContain(process.Lines, static line => line.StartsWith("stock ", StringComparison.Ordinal)); // nothing was executed
        return process.Await("behind the newest checkpoint were executed by build");
    }

    private int Epochs() => Directory.GetFiles(_log, "log.*").Length;

    /// <summary>A constant in a helper of the handler: nobody's answers would have shown it.</summary>
    [Fact]
    public void DoubledConstant_BehindTheCheckpoint_IsRefusedByTheHandlersName()
    {
        Record();
        int epochs = Epochs();
        string why = RefusalOf(Edited("doubled", "n * 1 /*price*/", "n * 2"));
        Assert.Contains("IStock.Take (261 calls)", why, StringComparison.Ordinal);
        Assert.DoesNotContain("Audit", why, StringComparison.Ordinal);
        Assert.Equal(epochs, Epochs()); // no epoch was claimed
    }

    [Fact]
    public void OneForkMore_BehindTheCheckpoint_IsRefusedAndThenAcceptedByItsName()
    {
        Record();
        UpgradeTests.Build other = Edited("fork", "/*fork*/", "thisProxy.AuditFork();");
        string why = RefusalOf(other), option = "--accept-build ";
        int at = why.IndexOf(option, StringComparison.Ordinal) + option.Length;
        using var process = new CoordinatorProcess(_log, other, Immortal, "--accept-build", why[at..(at + 8)]);
        process.Await("as --accept-build allows");
        process.Kill();
    }

    [Fact]
    public void SameSource_CompiledElsewhere_IsTheSameBuild()
    {
        Record();
        using var process = new CoordinatorProcess(_log, Build("elsewhere", Source), Immortal);
        process.Await("ready ");
        Assert.DoesNotContain(process.Lines, static line => line.Contains("executed by build", StringComparison.Ordinal));
        process.Kill();
    }

    [Fact]
    public void EditOfAHandler_ThatNoRecordedInputCalls_GoesOnAndSaysSo()
    {
        Record();
        using var process = new CoordinatorProcess(_log, Edited("audit", "audits += 1 /*audit*/", "audits += 2"), Immortal);
        process.Await("nothing that they call has changed");
        process.Await("ready ");
        process.Kill();
    }

    /// <summary>
    /// A body was being tried again when the service was stopped. Its handler waits in the checkpoint of the stop, so only a build with the
    /// same handler goes on.
    /// </summary>
    [Fact]
    public void RetryThatIsPendingAtTheStop_IsContinuedByItsOwnHandlerAlone()
    {
        const string fork = "for (int i = 0; i < 261; i++) thisProxy.TakeFork(1);", body = "await thisProxy.SlowAsync() + 1";
        const string retries = """
            await NondetTask(() =>
            {
                Console.WriteLine("tried");
                return System.IO.File.Exists("/paid") ? Task.FromResult(1L) : throw new TimeoutException();
            }, new NondetOptions { Attempts = 1_000_000 })
            """;
        string source = Variant.Edit(
            Source, (fork, "thisProxy.SlowFork();"), (body, retries + " + 1 /*slow*/"), ("using System;", "using System; using System.Threading.Tasks;"));
        UpgradeTests.Build first = Build("retries", source);
        using (var process = new CoordinatorProcess(_log, first, Immortal))
        {
            process.Await("tried");
            process.Stop();
        }
        using (var process = new CoordinatorProcess(_log, Build("otherwise", Variant.Edit(source, ("+ 1 /*slow*/", "+ 2"))), Immortal))
        {
            Assert.Equal(2, process.AwaitExit());
            Assert.DoesNotContain("tried", process.Lines);
            process.Await("1 suspended call of Demo.Stock.Slow()");
        }
        using var same = new CoordinatorProcess(_log, first, Immortal);
        same.Await("ready ");
        same.Await("tried");
        same.Kill();
    }

    /// <summary>The usual redeploy: nothing is left to execute again, so any build goes on.</summary>
    [Fact]
    public void AnyBuild_BehindACleanStop_GoesOn()
    {
        Record();
        using (var process = new CoordinatorProcess(_log, Build("again", Source), Immortal))
        {
            process.Await("ready ");
            process.Stop();
        }
        using var next = new CoordinatorProcess(_log, Edited("doubled", "n * 1 /*price*/", "n * 2"), Immortal);
        next.Await("ready ");
        next.Kill();
    }
}
