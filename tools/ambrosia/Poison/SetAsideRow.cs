namespace Ambrosia.Tools;

/// <summary>One message that was set aside.</summary>
/// <param name="Message">Its place in the log, as it is to be named.</param>
/// <param name="Method">By name where a contract has it, else its id.</param>
/// <param name="Tries">How often its handler has thrown.</param>
internal sealed record SetAsideRow(
    string Message, string Time, string Kind, string Caller, string Method, uint Tries, ulong ArgumentBytes, string Why);
