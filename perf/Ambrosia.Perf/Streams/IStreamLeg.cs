namespace Ambrosia.Perf;

/// <summary>Something that moves messages one way and can be measured: we, or a rival.</summary>
internal interface IStreamLeg
{
    string Name { get; }

    /// <summary>What an arrived message survives.</summary>
    string Durability { get; }

    /// <summary>Of the largest message that it takes.</summary>
    int BytesMax { get; }

    /// <summary>Runs one round.</summary>
    /// <exception cref="FailedRoundException">Count, order or bytes are not right.</exception>
    StreamRound Run(int bytes, long messages);
}
