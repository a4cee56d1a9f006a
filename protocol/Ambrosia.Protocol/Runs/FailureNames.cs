namespace Ambrosia.Protocol.Runs;

/// <summary>Holds the type names of the failures in the list of protocol P4.6.</summary>
public static class FailureNames
{
    public const string NoMethod = "Ambrosia.NoMethod";
    public const string BadArguments = "Ambrosia.BadArguments";
    public const string BadResult = "Ambrosia.BadResult";
    public const string UnknownCase = "Ambrosia.UnknownCase";
    public const string BadFailure = "Ambrosia.BadFailure";
    public const string TooLong = "Ambrosia.TooLong";
    public const string Timeout = "Ambrosia.Timeout";
    public const string Cancelled = "Ambrosia.Cancelled";
    public const string CallFailed = "Ambrosia.CallFailed";
    public const string PeerForgotten = "Ambrosia.PeerForgotten";
    public const string TaskGivenUp = "Ambrosia.TaskGivenUp";
    public const string KeyReused = "Ambrosia.KeyReused";
    public const string NotSupported = "Ambrosia.NotSupported";
    public const string NotInQuery = "Ambrosia.NotInQuery";
    public const string QueryChangedState = "Ambrosia.QueryChangedState";
    public const string AppEnded = "Ambrosia.AppEnded";
    public const string Misuse = "Ambrosia.Misuse";
    public const string LimitReached = "Ambrosia.LimitReached";
    public const string FlowTooLong = "Ambrosia.FlowTooLong";
    public const string Failed = "Ambrosia.Failed";
}
