namespace Ambrosia.Perf;

/// <summary>Something that answers calls and can be measured: we, or a rival.</summary>
internal interface IPingLeg
{
    string Name { get; }

    /// <summary>It says what an answered call survives.</summary>
    string Durability { get; }

    /// <summary>Calls one after another.</summary>
    /// <exception cref="FailedRoundException">An answer was wrong or missing.</exception>
    PingRound Run(int calls);
}
