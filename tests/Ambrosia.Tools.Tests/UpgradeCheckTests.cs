using System.Buffers;
using System.Reflection.Emit;
using Ambrosia.Protocol;
using Ambrosia.Tools.Commands;

namespace Ambrosia.Tools.Tests;

/// <summary>What an upgrade to a new build would refuse, lose or begin anew, over an image and builds that are made here.</summary>
public sealed class UpgradeCheckTests : IDisposable
{
    private const string Account = "Shop.Account", Pay = ".Pay():Ambrosia.Call";

    private readonly StateLog _log = new();
    private readonly TemporaryDirectory _temporary = new();

    private string Build => _temporary.Of("next");

    public UpgradeCheckTests()
    {
        _log.MakeCheckpoint(100, Image());
        MadeBuild.WriteManifest(Path.Combine(_log.Directory, "contracts", "0123456789abcdef.json"));
    }

    public void Dispose()
    {
        _log.Dispose();
        _temporary.Dispose();
    }

    [Fact]
    public void Check_FieldsThatGoOn_StandAgainstNothing()
    {
        Save(static (build, account) => build
            .Field(account, "_balance", typeof(long), formerly: "_cents").Field(account, "_count", typeof(long))
            .Field(account, "_note", typeof(string)).Field(account, "_empty", typeof(string)).Field(account, "_past", typeof(List<long>))
            .Field(account, "_rate", typeof(double)).Field(account, "_cache", typeof(object), isState: false));
        ToolRun run = Check(ToolExit.Fine);

        Assert.Equal(
            [
                "Shop.Account._cents: it goes on as _balance.",
                "Shop.Account._count: i4 becomes i8: its values are taken as long as they fit.",
                "Shop.Account._rate: it is new, and begins with the default of its type.",
            ],
            run.Lines[..^1].Order(StringComparer.Ordinal));
        Assert.StartsWith(
            "Nothing in ckpt.100.1.r0 stands against an upgrade from version 0 to 2.", run.Lines[^1], StringComparison.Ordinal);
    }

    [Fact]
    public void Check_FieldThatIsDropped_SaysWhetherItHoldsSomething()
    {
        Save(static (build, account) => build.Field(account, "_cents", typeof(long)).Field(account, "_count", typeof(int)));
        ToolRun run = Check(ToolExit.Fine);

        Assert.Contains(
            "Shop.Account._note: it is dropped, with values in 1 of 1 object; if it was renamed, give the new field [FormerlyNamed].",
            run.Lines);
        Assert.Contains("Shop.Account._empty: it is dropped, and holds nothing.", run.Lines);
        Assert.Contains("it loses what the 2 lines above say", run.Lines[^1], StringComparison.Ordinal); // _note and _past
    }

    [Theory]
    [InlineData("_cents", typeof(string), "what is 'i8' in the state is 's' (System.String) now")]
    [InlineData("_cents", typeof(double), "what is 'i8' in the state is 'f8' (System.Double) now")]
    [InlineData("_note", typeof(Guid), "what is 's' in the state is 'g' (System.Guid) now")]
    [InlineData("_past", typeof(List<string>), "it holds a System.Collections.Generic.List<System.Int64>, and its type is System.Collections.Generic.List<System.String> now")]
    public void Check_FieldOfAnotherType_IsRefused(string field, Type type, string why)
    {
        Save((build, account) => build.Field(account, field, type));
        ToolRun run = Check(ToolExit.Damage);

        Assert.Contains(
            $"{Account}.{field}: {why}; give the new field another name, and fill it in OnUpgraded or in a constructor from the old state.",
            run.Lines);
        Assert.StartsWith("An upgrade of ckpt.100.1.r0 with this build would be refused", run.Lines[^1], StringComparison.Ordinal);
    }

    [Fact]
    public void Check_EnumMembers_AreComparedByName()
    {
        Save(static (build, account) =>
        {
            Whole(build, account);
            build.Enum("Shop.Status", ("Open[New]", 0), ("Rejected", 1), ("Late", 7));
        });
        ToolRun run = Check(ToolExit.Damage);
        Assert.Contains(
            "Shop.Status: The image holds the enum Shop.Status with Paid = 1: this build does not have it, and the number is Rejected now. Give the member that goes on [FormerlyNamed(\"Paid\")], or the other one a number and a name that no member had.",
            run.Lines);

        Save(static (build, account) =>
        {
            Whole(build, account);
            build.Enum("Shop.Status", ("Open[New]", 0), ("Rejected", 3));
        });
        run = Check(ToolExit.Fine);
        Assert.Contains("Shop.Status.New: it goes on as Open.", run.Lines);
        Assert.Contains("Shop.Status.Rejected: 2 becomes 3 in the state.", run.Lines);
        Assert.Contains(
            "Shop.Status.Paid: the name is gone, and values of it keep the number 1; if it was renamed, give the new member [FormerlyNamed].",
            run.Lines);
    }

    [Fact]
    public void Check_FieldsThatHaveExchangedTheirNames_GoOnAsEachOther()
    {
        Save(static (build, account) => build
            .Field(account, "_note", typeof(string), formerly: "_empty").Field(account, "_empty", typeof(string), formerly: "_note"));
        ToolRun run = Check(ToolExit.Fine);
        Assert.Contains("Shop.Account._note: it goes on as _empty.", run.Lines);
        Assert.Contains("Shop.Account._empty: it goes on as _note.", run.Lines);
    }

    [Fact]
    public void Check_FieldThatMayBeSeveral_IsRefused()
    {
        Save(static (build, account) => build
            .Field(account, "_a", typeof(string), formerly: "_note").Field(account, "_b", typeof(string), formerly: "_note"));
        Assert.Contains("whose field _note is a former name of several fields", Check(ToolExit.Damage).Output, StringComparison.Ordinal);
    }

    private static void Whole(MadeBuild build, TypeBuilder account) => build
        .Field(account, "_cents", typeof(long)).Field(account, "_count", typeof(int)).Field(account, "_note", typeof(string))
        .Field(account, "_empty", typeof(string)).Field(account, "_past", typeof(List<long>));

    [Fact]
    public void Check_ClassThatIsGone_IsRefusedUnlessAnotherHadItsName()
    {
        new MadeBuild().Save(Build);
        Assert.Contains(
            $"{Account}: the new build has no such class; give the class that goes on [FormerlyNamed(\"{Account}\")].",
            Check(ToolExit.Damage).Lines);

        var renamed = new MadeBuild();
        TypeBuilder next = renamed.Class("Shop.Wallet", version: 2, formerly: Account);
        MadeBuild.Method(next, "Settle");
        renamed.Field(next, "_cents", typeof(long)).Save(Build);
        Check(ToolExit.Fine);
    }

    [Theory]
    [InlineData(null, 1)]
    [InlineData(7, 7)]
    public void Check_VersionOfTheBuild_IsThatOfItsClass(int? stated, int version)
    {
        Save(static (build, account) => build.Field(account, "_cents", typeof(long)), version: stated);
        Assert.Equal(
            version, ToolRun.Of("upgrade", "check", _log.Directory, "--build", Build, "--json").Json.GetProperty("version").GetInt32());
    }

    /// <summary>A periodic timer keeps its method by name.</summary>
    [Fact]
    public void Check_TimerWhoseMethodIsGone_IsRefused()
    {
        var build = new MadeBuild();
        build.Field(build.Class(Account, version: 2), "_cents", typeof(long)).Save(Build);
        Assert.Contains(
            $"{Account}.Settle: a periodic timer calls it, and the new build has no such method without parameters; keep the method, or stop the timer with the old build first.",
            Check(ToolExit.Damage).Lines);
    }

    /// <summary>
    /// An app of both versions goes on with what is suspended in its old class up to the switch, and in its new one from there on: in a
    /// body that the new class has, or keeps.
    /// </summary>
    [Theory]
    [InlineData("old", "old", null, null)]
    [InlineData("old", "new", "old", "goes on in")]
    [InlineData("old", "new", null, "its body changed")]
    [InlineData("new", "new", "old", "its body changed")]
    public void Check_OfBothVersions_JudgesWhatIsSuspendedInEach(string ofOld, string ofNew, string? kept, string? said)
    {
        _log.MakeCheckpoint(200, Image(isSuspended: true));
        var build = new MadeBuild();
        TypeBuilder old = build.Class(Account, version: 1), next = build.Class("Shop.Wallet", version: 2);
        foreach (TypeBuilder each in new[] { old, next }) MadeBuild.Method(each, "Settle");
        MadeBuild.MadeOf(next, old);
        build.Field(old, "_cents", typeof(long)).Field(next, "_cents", typeof(long)).Save(Build);
        (string, string, string?)[] bodies = [($"{Account}{Pay}", ofOld, null), ($"Shop.Wallet{Pay}", ofNew, null)];
        MadeBuild.WriteBodies(
            Build, kept is null ? bodies : [.. bodies, ("Shop.Wallet.PayBefore():Ambrosia.Call", kept, $"Shop.Wallet{Pay}")]);
        bool isRefused = said == "its body changed";
        string output = Check(isRefused ? ToolExit.Damage : ToolExit.Fine).Output;
        if (said is null) Assert.DoesNotContain("suspended call", output, StringComparison.Ordinal);
        else Assert.Contains(output.Split('\n'), line => line.StartsWith("1 suspended call of ", StringComparison.Ordinal)
            && line.Contains(said, StringComparison.Ordinal));
    }

    [Theory]
    [InlineData(false, "is not there")]
    [InlineData(true, "the binding, Ambrosia.dll, does not lie in it")]
    public void Check_BuildWithoutItsFiles_IsMisuse(bool isThere, string why)
    {
        if (isThere) Directory.CreateDirectory(Build);
        ToolRun run = ToolRun.Of("upgrade", "check", _log.Directory, "--build", Build);
        Assert.Equal(ToolExit.Misuse, run.Code);
        Assert.Contains(why, run.Error, StringComparison.Ordinal);
        Assert.Contains("give the directory of the built app", run.Error, StringComparison.Ordinal);
    }

    private void Save(Action<MadeBuild, TypeBuilder> fields, int? version = 2)
    {
        var build = new MadeBuild();
        TypeBuilder account = build.Class(Account, version);
        MadeBuild.Method(account, "Settle");
        fields(build, account);
        build.Save(Build);
    }

    private ToolRun Check(int code)
    {
        ToolRun run = ToolRun.Of("upgrade", "check", _log.Directory, "--build", Build);
        Assert.True(run.Code == code, run.Output + run.Error);
        return run;
    }

    /// <summary>An account with 500 cents, a note, and a list, whose method Settle a timer calls.</summary>
    /// <param name="isSuspended">It waits in its method Pay.</param>
    private static byte[] Image(bool isSuspended = false)
    {
        var bytes = new ArrayBufferWriter<byte>();
        var to = new CborWriter(bytes);
        to.WriteArrayHeader(5);
        to.WriteString("ambrosia-csharp");
        to.WriteUInt64(8);
        to.WriteArrayHeader(isSuspended ? 1 : 0);
        if (isSuspended) Body(ref to);
        to.WriteArrayHeader(6);
        Row(ref to, "Ambrosia.ImageRoot, Ambrosia", 0, "Immortal", "@", "Timers", "@");
        Row(ref to, $"{Account}, Shop", 0, "_cents", "i8", "_count", "i4", "_note", "s", "_empty", "s", "_past", "@");
        to.WriteArrayHeader(3);
        to.WriteArrayHeader(2);
        to.WriteString("System.Collections.Generic.List`1, System.Private.CoreLib");
        to.WriteString("System.Int64, System.Private.CoreLib");
        to.WriteUInt64(4);
        to.WriteArrayHeader(1);
        to.WriteString("i8");
        Row(ref to, "Ambrosia.WaitingTimer[], Ambrosia", 2, "@");
        Row(ref to, "Ambrosia.Recurrence, Ambrosia", 0, "_declaringType", "s", "_method", "s", "_isStopped", "b");
        to.WriteArrayHeader(3);
        to.WriteString("Shop.Status, Shop");
        to.WriteUInt64(7);
        to.WriteArrayHeader(7);
        to.WriteString("i4");
        foreach ((string name, int number) in new[] { ("New", 0), ("Paid", 1), ("Rejected", 2) })
        {
            to.WriteString(name);
            to.WriteInt64(number);
        }
        to.WriteArrayHeader(10);
        to.WriteUInt64(0); // the root: the account is object 1, the timers are object 3
        to.WriteArrayHeader(2);
        to.WriteUInt64(1);
        to.WriteUInt64(3);
        to.WriteUInt64(1);
        to.WriteArrayHeader(5);
        to.WriteInt64(500);
        to.WriteInt64(2);
        to.WriteString("open");
        to.WriteNull();
        to.WriteUInt64(2);
        to.WriteUInt64(2);
        to.WriteArrayHeader(2);
        to.WriteUInt64(0);
        to.WriteInt64(500);
        to.WriteUInt64(3);
        to.WriteArrayHeader(1);
        to.WriteUInt64(4);
        to.WriteUInt64(4);
        to.WriteArrayHeader(3);
        to.WriteString(Account);
        to.WriteString("Settle");
        to.WriteBoolean(false);
        to.Flush();
        return bytes.WrittenSpan.ToArray();
    }

    private static void Body(ref CborWriter to)
    {
        to.WriteArrayHeader(6);
        foreach (string text in new[] { "Shop", $"{Account}{Pay}", "old", "" }) to.WriteString(text);
        to.WriteArrayHeader(1);
        to.WriteArrayHeader(3);
        to.WriteString("machine");
        to.WriteUInt64(1);
        to.WriteArrayHeader(1);
        to.WriteString("struct");
        to.WriteArrayHeader(1);
        to.WriteArrayHeader(4);
        to.WriteString("machine");
        to.WriteUInt64(0);
        to.WriteUInt64(1);
        to.WriteString("");
    }

    private static void Row(ref CborWriter to, string name, ulong kind, params string[] members)
    {
        to.WriteArrayHeader(3);
        to.WriteString(name);
        to.WriteUInt64(kind);
        to.WriteArrayHeader(members.Length);
        foreach (string member in members) to.WriteString(member);
    }
}
