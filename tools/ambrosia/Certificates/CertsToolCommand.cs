using System.CommandLine;
using System.Security.Cryptography;
using Ambrosia.Protocol;
using Ambrosia.Tools.Commands;
using Ambrosia.Tools.Output;
using CRA.Authentication;

namespace Ambrosia.Tools.Certificates;

/// <summary>
/// The command <c>ambrosia certs --ca DIR --name INSTANCE…</c> makes a development authority and certificates for instances. It is the one
/// command that writes: into the given directory (mode 0700, files 0600), and never over a file that is there.
/// </summary>
internal sealed class CertsToolCommand : ToolCommand
{
    private const string AuthorityFile = "ca.pem", AuthorityKeyFile = "ca.key";

    private readonly Option<string> _directory = new("--ca")
    {
        Description = "Directory of the authority; made when it is not there.", HelpName = "DIR", Required = true
    };
    private readonly Option<string[]> _names = new("--name")
    {
        Description = "Instances that get a certificate.", HelpName = "INSTANCE", AllowMultipleArgumentsPerToken = true
    };
    private readonly NumberOption _days = new("--days", "N", 1, DevelopmentCertificates.AuthorityDays, "How long the certificates are valid.",
        DevelopmentCertificates.InstanceDays);

    public CertsToolCommand(ToolStreams streams)
        : base(streams, "certs", "Makes a development authority and certificates of instances for links with TLS.")
    {
        Add(_directory);
        Add(_names);
        Add(_days);
    }

    protected override int Run(ParseResult parsed, Screen screen)
    {
        string directory = Path.GetFullPath(parsed.GetRequiredValue(_directory));
        string[] names = parsed.GetValue(_names) ?? [];
        int days = _days.IntOf(parsed)!.Value;
        Refuse(directory, names);
        var made = new List<string>();
        Directory.CreateDirectory(directory, UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.UserExecute);
        DateTimeOffset now = TimeProvider.System.GetUtcNow();
        string authority = Path.Combine(directory, AuthorityFile), key = Path.Combine(directory, AuthorityKeyFile);
        if (!File.Exists(authority))
        {
            (string certificate,
                string privateKey) = DevelopmentCertificates.MakeAuthority("Ambrosia development authority", now,
                    RandomNumberGenerator.Fill);
            made.Add(Write(key, privateKey));
            made.Add(Write(authority, certificate));
        }
        foreach (string name in names)
        {
            (string certificate, string privateKey) = MakeInstance(name, authority, key, now, days);
            made.Add(Write(KeyOf(directory, name), privateKey));
            made.Add(Write(CertificateOf(directory, name), certificate));
        }
        screen.Show(
            new CertsReport(directory, made,
                [.. names.Select(
                    name => $"--tls-cert {CertificateOf(directory, name)} --tls-key {KeyOf(directory, name)} --tls-ca {authority}")]));
        return ToolExit.Fine;
    }

    private static (string Certificate, string Key) MakeInstance(string name, string authority, string key, DateTimeOffset now, int days)
    {
        try
        {
            return DevelopmentCertificates.MakeInstance(name, File.ReadAllText(authority), File.ReadAllText(key), now,
                TimeSpan.FromDays(days), RandomNumberGenerator.Fill);
        }
        catch (LinkCertificateException e)
        {
            throw new ToolMisuse($"no certificate can be signed with {authority} and {key}", e.Message,
                "give with --ca a directory that 'ambrosia certs' has made");
        }
    }

    /// <summary>Refuses what cannot be made. Everything is looked at before anything is made.</summary>
    private static void Refuse(string directory, string[] names)
    {
        if (File.Exists(directory))
            throw new ToolMisuse($"'{directory}' of --ca is a file", "an authority is a directory", "give another path");
        foreach (string name in names)
        {
            if (!Names.IsValid(name))
                throw new ToolMisuse($"'{name}' of --name is no name of an instance", "",
                    "give 1 to 63 letters, digits, '_' or '-', beginning with a letter or digit");
            foreach (string path in new[] { CertificateOf(directory, name), KeyOf(directory, name) })
                if (File.Exists(path))
                    throw new ToolMisuse($"{path} is there already", "a certificate in use would be lost",
                        "remove or move it, then make a new one");
        }
        if (names.Distinct(StringComparer.Ordinal).Count() != names.Length)
            throw new ToolMisuse("a name of --name stands there twice", "", "give each once");
        bool hasAuthority = File.Exists(Path.Combine(directory, AuthorityFile)),
            hasKey = File.Exists(Path.Combine(directory, AuthorityKeyFile));
        if (hasAuthority != hasKey)
            throw new ToolMisuse($"{directory} has only one of {AuthorityFile} and {AuthorityKeyFile}",
                "nothing can be signed with one alone", "put the other back, or give another directory");
        if (hasAuthority && names.Length == 0)
            throw new ToolMisuse($"{directory} has an authority already", "", "name the instances that need a certificate with --name");
    }

    private static string CertificateOf(string directory, string name) => Path.Combine(directory, $"{name}.instance.pem");

    private static string KeyOf(string directory, string name) => Path.Combine(directory, $"{name}.instance.key");

    private static string Write(string path, string text)
    {
        var options = new FileStreamOptions
        {
            Mode = FileMode.CreateNew, Access = FileAccess.Write, UnixCreateMode = UnixFileMode.UserRead | UnixFileMode.UserWrite
        };
        using var file = new StreamWriter(path, options);
        file.Write(text);
        return path;
    }
}

/// <summary>Reports what <c>ambrosia certs</c> has made, and the options with which a coordinator uses it.</summary>
internal sealed record CertsReport(string Directory, IReadOnlyList<string> Made, IReadOnlyList<string> Options) : IReport
{
    public void Draw(Screen screen)
    {
        foreach (string path in Made) screen.Line($"made {path}");
        foreach (string options in Options) screen.Line(options);
        screen.Line("For development: whoever has ca.key can pass for any instance.", Tone.Warning);
    }
}
