using System.Globalization;

namespace Ambrosia.EndToEnd.App;

/// <summary>
/// What the environment says of a run. A test gives every process of a run the same, so a replay that constructs an immortal again
/// reads what the first start read.
/// </summary>
internal static class Settings
{
    /// <summary>Name of the instance that is called.</summary>
    public static string Peer => Text("PEER") ?? "ledger";

    /// <summary>Name of a second instance that is called as well; null: none is.</summary>
    public static string? Second => Text("SECOND");

    /// <summary>The instances of a ring, in its order.</summary>
    public static string[] Ring => Text("RING")?.Split(',') ?? [];

    /// <summary>The run goes on until this file is there; null: until enough calls are made.</summary>
    public static string? Until => Text("UNTIL");

    /// <summary>A directory in which senders say what they were told; null: they say it on lines.</summary>
    public static string? Spool => Text("SPOOL");

    /// <summary>While this file is there, the next app of a ledger breaks the protocol; null: none does.</summary>
    public static string? Rude => Text("RUDE");

    /// <summary>So long each thousandth input takes: an app that lags behind its log.</summary>
    public static TimeSpan Lag { get; } = TimeSpan.FromMilliseconds(Number("LAG_MS", 0));

    /// <summary>A planted bug: the ledger forgets the call of this number. 0: none.</summary>
    public static ulong Forget { get; } = Number("FORGET", 0);

    /// <summary>A planted bug: the ledger's process dies at the call of this number, without a word. 0: none.</summary>
    public static ulong DieAt { get; } = Number("DIE_AT", 0);

    /// <summary>A planted bug: the source leaves out each call of such a number. 0: none.</summary>
    public static ulong SkipEvery { get; } = Number("SKIP_EVERY", 0);

    /// <summary>A planted bug: the source calls each call of such a number by the next number. 0: it does not.</summary>
    public static ulong MiscountEvery { get; } = Number("MISCOUNT_EVERY", 0);

    /// <summary>A planted bug: the source makes one call more to itself behind the burst of this number. 0: none.</summary>
    public static ulong Stray { get; } = Number("STRAY", 0);

    /// <summary>A planted bug: the bank answers deposits with so much more.</summary>
    public static long AnswersMore { get; } = (long)Number("ANSWERS_MORE", 0);

    /// <summary>A planted bug: bodies of tasks give what others gave, senders repeat impulses under other keys.</summary>
    public static bool DoesRepeat { get; } = Text("REPEAT") is not null;

    /// <summary>The number of the change that is planted in the shop, and of the order at which it takes effect. 0: none.</summary>
    public static int Change { get; } = (int)Number("CHANGE", 0);

    public static long ChangeAt { get; } = (long)Number("CHANGE_AT", 0);

    /// <summary>The shop does the same in other words, of which this is the number. 0: it does not.</summary>
    public static int Rewrite { get; } = (int)Number("REWRITE", 0);

    /// <summary>The ledger's handler throws, when it has done its work: every THROW-th call, of the first 10,000.</summary>
    public static bool Throws(ulong number) => s_throwEvery != 0 && number <= 10_000 && number % s_throwEvery == 0;

    /// <summary>
    /// Where a test asks for it, makes this process one of a framework that words all its exceptions otherwise: by the keys of its texts,
    /// as trimmed apps have them. It must come before the framework has read that switch.
    /// </summary>
    public static void RewordFramework()
    {
        if (Text("REWORD") is null) return;
        AppContext.SetSwitch("System.Resources.UseSystemResourceKeys", true);
        Console.WriteLine($"words {new KeyNotFoundException().Message}");
    }

    private static readonly ulong s_throwEvery = Number("THROW", 0);

    public static ulong Number(string name, ulong otherwise) =>
        Text(name) is { } text ? ulong.Parse(text, CultureInfo.InvariantCulture) : otherwise;

    private static string? Text(string name) => Environment.GetEnvironmentVariable(name) is { Length: > 0 } text ? text : null;
}
