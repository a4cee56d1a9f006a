namespace Ambrosia.Simulation;

/// <summary>Counts and hashes what arrives, in order; answers with the count.</summary>
public interface ILedger
{
    void Put(ulong number, ulong value);

    /// <summary>A call of any length.</summary>
    [MethodId(104)]
    void PutBlob(ulong number, ulong value, byte[] blob);

    ulong Next();

    /// <summary>Of callers outside: takes effect, and answers with its place among all effects.</summary>
    [MethodId(101)]
    ulong Deposit(ulong id);

    /// <summary>The same, suspended in between.</summary>
    [MethodId(102)]
    Call<ulong> DepositLater(ulong id);

    [MethodId(103)]
    [ImpulseHandler]
    void Note(ulong id);

    ulong Turn();

    Call<ulong> Pass(ulong number, ulong hops);

    /// <summary>Of itself: the new version has come into force.</summary>
    [MethodId(105)]
    void NoteUpgrade();

    /// <summary>Of clerks: answers with the place among the calls of that clerk.</summary>
    ulong Tally(string clerk, ulong number);
}

/// <summary>Makes calls until it has made enough; keeps what it expects the ledger to hold.</summary>
public interface ISource
{
    void Continue();

    Call Ask();

    Call DoWork(ulong lane);

    Call Chain();

    Call<ulong> Pass(ulong number, ulong hops);

    [ImpulseHandler]
    void Mark(ulong id);
}

/// <summary>The receiving side: its state is the whole history in one hash.</summary>
public sealed partial class Ledger : Immortal<ILedgerProxy>, ILedger
{
    public ulong Count, Asked, Hash, TriedAgain;

    /// <summary>Its version, how often it came into force, and how often it has told itself of that.</summary>
    public ulong Version = Upgrades.From, Upgraded, Noted;
    public List<ulong> Thrown = [];

    public void Put(ulong number, ulong value)
    {
        World world = World.OfThisThread;
        bool isPoison = world.PoisonEvery != 0 && number % world.PoisonEvery == 0;
        if (isPoison && Thrown.Contains(number))
        {
            TriedAgain++;
            return;
        }
        Count++;
        Hash = Mix(Mix(Hash, number), value);
        if (!isPoison || world.Whim?.Next(3) == 0) return;
        Thrown.Add(number);
        throw new InvalidOperationException($"call {number} is poison");
    }

    public void PutBlob(ulong number, ulong value, byte[] blob) => Put(number, value ^ Sum(blob));

    /// <summary>How often what a caller outside sent took effect, by its id.</summary>
    public readonly SortedDictionary<ulong, int> Effects = [];

    public ulong Place;

    public ulong Next() => ++Asked;

    public ulong Deposit(ulong id)
    {
        Effects[id] = Effects.GetValueOrDefault(id) + 1;
        return ++Place;
    }

    public async Call<ulong> DepositLater(ulong id)
    {
        await thisProxy.TurnAsync();
        return Deposit(id);
    }

    public void Note(ulong id) => Deposit(id);

    protected override void OnUpgraded(uint from)
    {
        Upgraded++;
        thisProxy.NoteUpgradeFork();
    }

    public void NoteUpgrade() => Noted++;

    public ulong Turn() => Place;

    /// <summary>It has executed as much: what it has made of it is to be compared.</summary>
    public bool IsAt(Ledger other) =>
        Count == other.Count && Asked == other.Asked && TriedAgain == other.TriedAgain && Place == other.Place
        && Tallied == other.Tallied && Version == other.Version && Noted == other.Noted;

    /// <summary>The hash of a blob, or of what is missing of it.</summary>
    internal static ulong Sum(ReadOnlySpan<byte> blob)
    {
        ulong sum = (ulong)blob.Length;
        for (int i = 0; i < blob.Length; i += 97) sum = Mix(sum, blob[i]);
        return sum;
    }

    internal static ulong Mix(ulong hash, ulong value) => (hash ^ value) * 0x9E3779B97F4A7C15UL + (hash >> 29);
}

/// <summary>The sending side: bursts of forks, awaited calls between them, driven by calls to itself.</summary>
public sealed partial class Source : Immortal<ISourceProxy>, ISource
{
    public const ulong Bursts = 150, CallsPerBurst = 9, Asks = 60;

    /// <summary>How often a ledger was given up.</summary>
    public ulong Forgets;

    public ulong Made, Burst, Answers, Hash, WrongAnswers;

    private ILedgerProxy _ledger;

    public Source() => _ledger = GetProxy<ILedger>("ledger");

    protected override void OnFirstStart()
    {
        thisProxy.ContinueFork();
        thisProxy.AskFork();
        StartTimersAndTasks();
        if (World.OfThisThread.HasChains) thisProxy.ChainFork();
    }

    public void Continue()
    {
        for (ulong i = 0; i < CallsPerBurst; i++)
        {
            ulong number = ++Made, value = Ledger.Mix(number, Answers) ^ (ulong)(World.OfThisThread.Dice?.Next() ?? 0);
            ulong made = World.OfThisThread.Builds.Made(number, value);
            if (World.OfThisThread.Weather.BlobBytesOf(number) is { } bytes)
            {
                byte[] blob = new byte[bytes];
                blob.AsSpan().Fill((byte)value);
                Hash = Ledger.Mix(Ledger.Mix(Hash, number), value ^ Ledger.Sum(blob));
                _ledger.PutBlobFork(number, made, blob);
                continue;
            }
            Hash = Ledger.Mix(Ledger.Mix(Hash, number), value);
            _ledger.PutFork(number, made);
        }
        if (++Burst < Bursts) thisProxy.ContinueFork();
    }

    public async Call Ask()
    {
        while (Answers < Asks)
        {
            try
            {
                ulong answer = await _ledger.NextAsync();
                if (answer != ++Answers) WrongAnswers++;
            }
            catch (RemoteCallException e) when (e.TypeName == RemoteCallException.PeerForgotten)
            {
                Forgets++;
                Made = Hash = 0; // whoever is ledger now knows nothing of what was
                if (!World.OfThisThread.Faults.Confuses) Answers = 0;
            }
        }
    }
}
