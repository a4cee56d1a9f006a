using System.Buffers.Binary;
using System.Net.Sockets;

namespace Ambrosia.Coordinator.Hosting;

/// <summary>
/// Tells who is at the other end of a unix socket, as the kernel noted it when the connection was made: nobody can make it lie. Only Linux
/// has it.
/// </summary>
internal static class PeerCredentials
{
    private const int SocketLevel = 1, PeerCredentialsOption = 17; // SOL_SOCKET, SO_PEERCRED
    private const int CredentialBytes = 12, UserAt = 4;            // struct ucred: pid, uid, gid

    /// <summary>Gets the id of the peer's process, or null if the system does not tell one that this process can see.</summary>
    public static int? ProcessOf(Socket socket)
    {
        if (!HasCredentials(socket)) return null;
        Span<byte> credentials = stackalloc byte[CredentialBytes];
        return WhyUntold(socket, credentials) is null && BinaryPrimitives.ReadInt32LittleEndian(credentials) is > 0 and { } process
            ? process : null;
    }

    /// <summary>
    /// Says why the peer may not speak here; null: it runs as the user of this process, or as root. A TCP port tells no user.
    /// </summary>
    public static string? WhatIsWrong(Socket socket)
    {
        if (!HasCredentials(socket)) return null;
        Span<byte> credentials = stackalloc byte[CredentialBytes];
        if (WhyUntold(socket, credentials) is { } why) return why;
        uint user = BinaryPrimitives.ReadUInt32LittleEndian(credentials[UserAt..]);
        return user == 0 || user == FileRights.EffectiveUser ? null
            : $"process {BinaryPrimitives.ReadInt32LittleEndian(credentials)} of user {user} may not connect; this coordinator serves user {FileRights.EffectiveUser}";
    }

    private static bool HasCredentials(Socket socket) => socket.AddressFamily == AddressFamily.Unix && OperatingSystem.IsLinux();

    /// <summary>Reads the peer's credentials. Returns why the system does not tell them, or null.</summary>
    private static string? WhyUntold(Socket socket, Span<byte> credentials)
    {
        try
        {
            return socket.GetRawSocketOption(SocketLevel, PeerCredentialsOption, credentials) == CredentialBytes ? null
                : "the system does not tell whose process it is";
        }
        catch (SocketException e)
        {
            return e.Message; // it is gone already
        }
    }
}
