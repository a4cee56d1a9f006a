namespace Ambrosia.Perf;

/// <summary>The answering end of <c>upgrade</c> before it: a ping server that has a state of some size.</summary>
[AppVersion(1)]
public sealed partial class UpgradedServerV1 : Immortal<IPingServerProxy>, IPingServer
{
    internal readonly byte[] _state = UpgradedState.Make();

    public long Echo(long number) => number;
}

/// <summary>The same behind it. The state goes over by its name.</summary>
[AppVersion(2)]
[FormerlyNamed("Ambrosia.Perf.UpgradedServerV1")]
public sealed partial class UpgradedServer : Immortal<IPingServerProxy>, IPingServer
{
    internal readonly byte[] _state = [];
    internal long _echoed;

    public long Echo(long number)
    {
        _echoed++;
        return number;
    }
}

/// <summary>Makes the state of the server of <c>upgrade</c>: as large as its driver has told it in the environment.</summary>
internal static class UpgradedState
{
    public const string Variable = "AMBROSIA_PERF_STATE";

    public static byte[] Make()
    {
#pragma warning disable AMB106 // every process of a measurement is given the same
        string? bytes = Environment.GetEnvironmentVariable(Variable);
#pragma warning restore AMB106
        byte[] state = new byte[int.Parse(bytes ?? "0", System.Globalization.CultureInfo.InvariantCulture)];
        for (int i = 0; i < state.Length; i++) state[i] = (byte)(i * 31);
        return state;
    }
}
