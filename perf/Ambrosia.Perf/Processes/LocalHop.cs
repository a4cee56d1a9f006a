namespace Ambrosia.Perf;

/// <summary>Names the ways between an app and its coordinator.</summary>
internal enum LocalHop
{
    /// <summary>Two processes and a unix socket: the usual way.</summary>
    Unix,

    /// <summary>Two processes and TCP.</summary>
    Tcp,

    /// <summary>Two processes and rings of shared memory.</summary>
    Rings,

    /// <summary>One process that holds both (Ambrosia.Embedded), and a unix socket within it.</summary>
    Embedded,

    /// <summary>One process with a host of .NET that holds both (Ambrosia.Hosting).</summary>
    Hosted,
}
