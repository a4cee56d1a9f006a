namespace HelloWorld;

/// <summary>Where the server stands, as one line: <c>server QUESTION APPLIED HASH ASKED</c>.</summary>
/// <param name="Applied">Calls of Hello.</param>
/// <param name="OrderHash">Their numbers' <see cref="HelloWorld.OrderHash"/>.</param>
/// <param name="Asked">Calls of Ask.</param>
internal sealed record ServerReport(string Question, long Applied, ulong OrderHash, long Asked)
{
    public override string ToString() => $"server {Question} {Applied} {OrderHash} {Asked}";

    public static ServerReport? TryParse(string line)
    {
        if (line.Split(' ') is not ["server", string question, string applied, string hash, string asked]) return null;
        return long.TryParse(applied, out long a) && ulong.TryParse(hash, out ulong h) && long.TryParse(asked, out long q)
            ? new ServerReport(question, a, h, q) : null;
    }
}
