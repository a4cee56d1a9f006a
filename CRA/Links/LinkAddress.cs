using System.Net;

namespace CRA;

// Addresses are IP literals (or "localhost") with a port. Without certificates links are not encrypted, so anything but loopback must be asked for.
internal static class LinkAddress
{
    public static IPEndPoint ToListen(string address, bool mayLeaveTheMachine) => Parse(address, mayLeaveTheMachine, "listen on");

    public static IPEndPoint ToDial(string address, bool mayLeaveTheMachine)
    {
        IPEndPoint end = Parse(address, mayLeaveTheMachine, "dial");
        if (end.Port == 0) throw new LinkAddressException($"Cannot dial '{address}': port 0 names no listener. The catalog must hold the port that the listener was given.");
        return end;
    }

    private static IPEndPoint Parse(string address, bool mayLeaveTheMachine, string toDo)
    {
        string literal = address.StartsWith("localhost:", StringComparison.Ordinal) ? string.Concat("127.0.0.1", address.AsSpan("localhost".Length)) : address;
        // Without a port a literal parses as port 0; so the colon before the port is looked for.
        if (!IPEndPoint.TryParse(literal, out IPEndPoint? end) || !HasPort(literal))
            throw new LinkAddressException($"Cannot {toDo} '{address}': it is not an IP address with a port. Write it like 127.0.0.1:4711 or [::1]:4711.");
        if (!mayLeaveTheMachine && !IPAddress.IsLoopback(end.Address))
            throw new LinkAddressException(
                $"Cannot {toDo} '{address}': it can be reached from other machines, and links are not encrypted: everybody on the way could read and change them. "
                + "Use a loopback address such as 127.0.0.1; or encrypt with --tls-cert, --tls-key and --tls-ca ('ambrosia certs' makes certificates to begin with); "
                + "or allow it with --insecure on a network that you trust.");
        return end;
    }

    private static bool HasPort(string literal)
    {
        int colon = literal.LastIndexOf(':');
        return literal.StartsWith('[') ? colon > literal.IndexOf(']') : colon >= 0 && colon == literal.IndexOf(':');
    }
}
