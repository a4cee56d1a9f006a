namespace Ambrosia.Coordinator;

/// <summary>How far a connection to a peer has come (protocol P6.1).</summary>
internal enum LinkStage
{
    /// <summary>We dialled: our hello is the first word.</summary>
    SendHello,
    AwaitHello,

    /// <summary>Its hello is right; another connection to this peer is in use.</summary>
    AwaitTurn,

    /// <summary>The peer's epoch is not durable in our log yet.</summary>
    AwaitRecord,
    AwaitReady,
    Open,
    Refused,
    Ended,
}
