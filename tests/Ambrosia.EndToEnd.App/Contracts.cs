namespace Ambrosia.EndToEnd.App;

/// <summary>Keeps the whole history of what arrives in a count and an order hash.</summary>
public interface ILedger
{
    void Put(ulong number, ReadOnlyMemory<byte> filling);

    ulong Next();

    string Summary();

    /// <summary>All of its state as JSON, by its own code.</summary>
    [Query]
    string Dump();
}

/// <summary>Makes calls to a ledger until it has made enough and has been told to stop.</summary>
public interface ISource
{
    Call GoOn();

    Call Finish();

    [ImpulseHandler]
    void Poke(int number);

    [ImpulseHandler]
    void Stop();
}

/// <summary>Takes impulses from threads of its own process, and of its peer's.</summary>
public interface IPoker
{
    [ImpulseHandler]
    void Poke(string id);

    /// <summary>How often each of them took effect.</summary>
    int[] TimesOf(string[] ids);
}

/// <summary>Called from outside. Each id is to take effect once; the answer is the place of its first effect among all.</summary>
public interface IBank
{
    long Deposit(string id);

    /// <summary>The same, but suspended in between.</summary>
    Call<long> DepositLater(string id);

    long Turn();

    /// <summary>Throws, and takes no effect.</summary>
    long Refuse(string why);

    [ImpulseHandler]
    void Note(string id);

    /// <summary>Takes effect, and throws the first time.</summary>
    [ImpulseHandler]
    void Trip(string id);

    /// <summary>Takes effect, and comes back when there is a file of that path.</summary>
    [ImpulseHandler]
    void Spin(string until);

    /// <summary>How often each of them took effect.</summary>
    int[] TimesOf(string[] ids);

    /// <summary>The arguments back.</summary>
    ReadOnlyMemory<byte> Echo(ReadOnlyMemory<byte> bytes);

    /// <summary>How often each of them took effect, as whichever replica answers has it.</summary>
    [Query]
    int[] Seen(string[] ids);

    /// <summary>How many things took effect.</summary>
    [Query]
    long Total();

    /// <summary>Counts what it must not.</summary>
    [Query]
    long Meddle();

    /// <summary>Ends the process.</summary>
    [Query]
    long End();
}

/// <summary>Fails in the way of a number, and says what it is told of it.</summary>
public interface IClumsy
{
    int Fail(int way);

    /// <summary>Lets itself fail, and gives back what it heard.</summary>
    Call<string> Ask(int way);

    [ImpulseHandler]
    void Trip(int way);

    void Fill(ReadOnlyMemory<byte> bytes);
}

/// <summary>Both at once: two of them flood each other.</summary>
public interface IFlooder
{
    void Put(ulong number, ReadOnlyMemory<byte> filling);

    string Summary();

    void Flood();

    Call Finish();

    Call FinishSecond();
}

/// <summary>Counts what each of many peers sends, and passes every call on to two more.</summary>
public interface IHub
{
    [MethodId(1)]
    ulong Count(int peer, ulong number);
}

/// <summary>One of several that call each other in a circle, each waiting for the next.</summary>
public interface IRing
{
    Call<ulong> Pass(int lane, ulong number, int hops);

    ulong Stamp(int lane, ulong number);

    Call Lane(int lane);

    string Summary();

    [ImpulseHandler]
    void Stop();
}
