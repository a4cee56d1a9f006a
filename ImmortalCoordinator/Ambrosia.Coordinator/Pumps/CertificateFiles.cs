using System.Text;
using Ambrosia.Log;
using CRA;

namespace Ambrosia.Coordinator.Pumps;

/// <summary>
/// The certificates in the files of --tls-cert, --tls-key and --tls-ca. Looked at again, at most once a second, when a handshake asks: new
/// ones count from the next connection on, ones that cannot be used leave the old ones in force and are told once. Any thread.
/// </summary>
internal sealed class CertificateFiles(CoordinatorOptions options, IFileSystem files, TimeProvider time, Action<string> say)
{
    private const int FileBytesMax = 1 << 20;
    private static readonly TimeSpan lookEvery = TimeSpan.FromSeconds(1);

    private readonly Lock gate = new();

    // What current was made of, or what could not be used. Guarded by gate, as is all below.
    private string? texts;
    private LinkCertificates? current;
    private long lookedAt;

    /// <summary>The certificates in force.</summary>
    /// <exception cref="LinkCertificateException">The first ones cannot be used.</exception>
    public LinkCertificates Current
    {
        get
        {
            lock (gate)
            {
                if (current is null) current = ReadFirst();
                else if (time.GetElapsedTime(lookedAt) >= lookEvery) LookAgain();
                return current;
            }
        }
    }

    private LinkCertificates ReadFirst()
    {
        (texts, lookedAt) = (ReadTexts(out string[] parts), time.GetTimestamp());
        return Usable(parts);
    }

    private void LookAgain()
    {
        lookedAt = time.GetTimestamp();
        try
        {
            string found = ReadTexts(out string[] parts);
            if (found == texts) return;
            texts = found;
            current = Usable(parts);
            say("certificates: read again, in force from the next connection on");
        }
        catch (LinkCertificateException e)
        {
            if (texts != e.Message) say($"certificates: the old ones stay in force: {e.Message}");
            texts = e.Message;
        }
    }

    private LinkCertificates Usable(string[] parts)
    {
        LinkCertificates found = LinkCertificates.Read(parts[0], parts[1], parts[2], time);
        return found.WhatIsWrongFor(options.Instance) is { } wrong ? throw new LinkCertificateException(wrong) : found;
    }

    private string ReadTexts(out string[] parts)
    {
        if (FileRights.WhatIsWrongWithKey(options.TlsKey!) is { } open)
            throw new LinkCertificateException(
                $"the key {options.TlsKey} of --tls-key is not private: {open}. Mend it with 'chmod 600 {options.TlsKey}'.");
        parts = [Text("--tls-cert", options.TlsCertificate!), Text("--tls-key", options.TlsKey!),
            Text("--tls-ca", options.TlsAuthorities!)];
        return string.Join('\0', parts);
    }

    private string Text(string option, string path)
    {
        try
        {
            using IFile file = files.Open(path, FileUse.Read);
            byte[] bytes = new byte[Math.Min(file.Length, FileBytesMax)];
            return Encoding.UTF8.GetString(bytes.AsSpan(0, file.Read(bytes, 0)));
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw new LinkCertificateException($"the file {path} of {option} cannot be read: {e.Message}", e);
        }
    }
}
