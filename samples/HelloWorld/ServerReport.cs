namespace HelloWorld;

/// <summary>The progress of the server, which is printed as one line: <c>server QUESTION APPLIED HASH ASKED</c>.</summary>
/// <param name="Applied">The calls of Hello that it has applied.</param>
/// <param name="OrderHash">The hash of their numbers: <see cref="HelloWorld.OrderHash"/>.</param>
/// <param name="Asked">The calls of Ask.</param>
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
