using System.Buffers.Binary;
using System.Net.Sockets;
using System.Runtime.InteropServices;

namespace Ambrosia.Coordinator.Pumps;

/// <summary>Who is at the other end of a unix socket, as the kernel noted it when the connection was made. Linux.</summary>
internal static partial class PeerCredentials
{
    private const int SocketLevel = 1, PeerCredentialsOption = 17; // SOL_SOCKET, SO_PEERCRED
    private const int CredentialBytes = 12, UserAt = 4;            // struct ucred: pid, uid, gid

    /// <summary>The peer runs as the user of this process, or as root.</summary>
    public static bool IsOwnUserOrRoot(Socket socket)
    {
        Span<byte> credentials = stackalloc byte[CredentialBytes];
        try
        {
            if (socket.GetRawSocketOption(SocketLevel, PeerCredentialsOption, credentials) != CredentialBytes) return false;
        }
        catch (SocketException)
        {
            return false; // it is gone already
        }
        uint user = BinaryPrimitives.ReadUInt32LittleEndian(credentials[UserAt..]);
        return user == 0 || user == EffectiveUser();
    }

    [LibraryImport("libc", EntryPoint = "geteuid")]
    private static partial uint EffectiveUser();
}
