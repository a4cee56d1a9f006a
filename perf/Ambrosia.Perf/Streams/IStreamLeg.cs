namespace Ambrosia.Perf;

/// <summary>Something that moves messages one way and can be measured: we, or a rival.</summary>
internal interface IStreamLeg
{
    string Name { get; }

    /// <summary>Says what a message survives once it has arrived.</summary>
    string Durability { get; }

    /// <summary>The largest message that it takes has so many bytes.</summary>
    int BytesMax { get; }

    /// <summary>Runs one round.</summary>
    /// <exception cref="FailedRoundException">Count, order or bytes are not right.</exception>
    StreamRound Run(int bytes, long messages);
}
