using System.Text;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Log.Files;
using Ambrosia.Protocol.Locking;
using CRA.Authentication;
using Microsoft.Extensions.Logging;

namespace Ambrosia.Coordinator.Hosting;

/// <summary>
/// Owns the certificates in the files of --tls-cert, --tls-key and --tls-ca. They are looked at again, at most once a second, when a
/// handshake asks: new ones count from the next connection on, and ones that cannot be used leave the old ones in force and are told once.
/// Any thread may call it.
/// </summary>
internal sealed class CertificateFiles(CoordinatorOptions options, IFileSystem files, TimeProvider time, ILogger logger)
{
    private const int FileBytesMax = 1 << 20;
    private static readonly TimeSpan s_lookEvery = TimeSpan.FromSeconds(1);

    private readonly RankedLock _gate = new(LockRank.CertificateFiles);

    // What current was made of, or what could not be used. Guarded by gate, as is all below.
    private string? _texts;
    private LinkCertificates? _current;
    private long _lookedAt;

    /// <summary>The certificates in force.</summary>
    /// <exception cref="LinkCertificateException">The first ones cannot be used.</exception>
    public LinkCertificates Current
    {
        get
        {
            using (_gate.Enter())
            {
                if (_current is null) _current = ReadFirst();
                else if (time.GetElapsedTime(_lookedAt) >= s_lookEvery) LookAgain();
                return _current;
            }
        }
    }

    private LinkCertificates ReadFirst()
    {
        (_texts, _lookedAt) = (ReadTexts(out string[] parts), time.GetTimestamp());
        return Usable(parts);
    }

    private void LookAgain()
    {
        _lookedAt = time.GetTimestamp();
        try
        {
            string found = ReadTexts(out string[] parts);
            if (found == _texts) return;
            _texts = found;
            _current = Usable(parts);
            logger.CertificatesRenewed();
        }
        catch (Exception e) // whatever a library finds in files that changed under it, the old ones are good
        {
            if (_texts != e.Message) logger.CertificatesRejected(e.Message);
            _texts = e.Message;
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
