namespace Ambrosia.EndToEnd.App;

/// <summary>Keeps the whole history of what arrives in a count and an order hash.</summary>
public interface ILedger
{
    void Put(ulong number, ReadOnlyMemory<byte> filling);

    ulong Next();

    string Summary();
}

/// <summary>Makes calls to a ledger until it has made enough.</summary>
public interface ISource
{
    void Burst();

    Call Ask();

    Call Finish();

    [ImpulseHandler]
    void Poke(int number);
}
