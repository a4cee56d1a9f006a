using System.Security.Cryptography;
using CRA.Authentication;

namespace Ambrosia.Perf;

/// <summary>Certificates for the instances of a measurement, of an authority made for it.</summary>
internal static class LinkCertificates
{
    private static readonly TimeSpan s_lifetime = TimeSpan.FromDays(1);

    /// <summary>The same cluster with links through TLS; the files lie beside the logs.</summary>
    public static ClusterOptions Give(ClusterOptions cluster)
    {
        (string certificate, string key) = DevelopmentCertificates.MakeAuthority("perf", DateTimeOffset.UtcNow, RandomNumberGenerator.Fill);
        Func<string, IReadOnlyList<string>> others = cluster.OptionsOf;
        return cluster with { OptionsOf = instance => [.. others(instance), .. OptionsOf(cluster.Directory, instance, certificate, key)] };
    }

    private static IReadOnlyList<string> OptionsOf(string directory, string instance, string authority, string authorityKey)
    {
        string[] files = [.. new[] { "pem", "key", "ca" }.Select(end => Path.Combine(directory, $"{instance}.{end}"))];
        if (!File.Exists(files[0]))
        {
            (string certificate,
                string key) = DevelopmentCertificates.MakeInstance(instance, authority, authorityKey, DateTimeOffset.UtcNow, s_lifetime,
                    RandomNumberGenerator.Fill);
            foreach ((string file, string text) in files.Zip([certificate, key, authority]))
            {
                File.WriteAllText(file, text);
                File.SetUnixFileMode(file, UnixFileMode.UserRead | UnixFileMode.UserWrite);
            }
        }
        return ["--tls-cert", files[0], "--tls-key", files[1], "--tls-ca", files[2]];
    }
}
