using System.Collections.Concurrent;
using Ambrosia.Log.Checkpoints;
using Ambrosia.Log.Format;
using Ambrosia.Log.Retention;
using Ambrosia.Log.Segments;
using Ambrosia.Protocol;
using Ambrosia.Tools.Logs;
using Ambrosia.Tools.Output;

namespace Ambrosia.Tools.Replicas;

/// <summary>
/// The version before the one in force, of which a log still has records or a checkpoint, and whether its build is still needed: it is
/// until two checkpoints of the version in force verify, since either may turn out damaged (docs/upgrades.md).
/// </summary>
/// <param name="Version">The newest version below the one in force.</param>
/// <param name="Build">The build that has executed it, or null where the log does not say.</param>
/// <param name="InForce">The version in force.</param>
/// <param name="Verified">Checkpoints of the version in force that were read to their last byte and found sound, as far as two.</param>
internal sealed record FormerVersion(uint Version, string? Build, uint InForce, int Verified)
{
    private const int Needed = 2;

    /// <summary>Checkpoints do not change: one that was found sound is not read again while the status is watched.</summary>
    private static readonly ConcurrentDictionary<string, bool> s_sound = new(StringComparer.Ordinal);

    /// <summary>The old build may be deleted.</summary>
    public bool MayGo => Verified >= Needed;

    /// <summary>Looks into a log; null: all of it is of one version, or it cannot be read from here.</summary>
    public static FormerVersion? Find(string directory)
    {
        try
        {
            return Find(LogDirectory.Open(directory));
        }
        catch (Exception e) when (e is LogDamage or IOException or UnauthorizedAccessException or ProtocolViolation or ToolMisuse)
        {
            return null; // 'ambrosia verify' says what is wrong with it
        }
    }

    private static FormerVersion? Find(LogDirectory log)
    {
        var chain = LogChain.Load(log.Files, log.Path, log.Identity);
        if (chain.Segments.IsEmpty) return null;
        uint inForce = chain.NewestVersion(log.Files);
        uint before = chain.NewestBelow(log.Files, inForce) ?? 0;
        string? build = null;
        int verified = 0;
        foreach (CheckpointFileName name in CheckpointDirectory.List(log.Files, log.Path))
        {
            if (CheckpointReader.TryReadHeader(log.Location, name) is not { } header) continue;
            if (header.AppVersion == inForce && verified < Needed && IsSound(log, header, chain)) verified++;
            if (header.AppVersion >= inForce || header.AppVersion < before) continue;
            if (header.AppVersion > before || build is null) build = header.Build?.Short;
            before = header.AppVersion;
        }
        return before == 0 ? null : new FormerVersion(before, build, inForce, verified);
    }

    private static bool IsSound(LogDirectory log, CheckpointHeader header, LogChain chain)
    {
        string path = log.PathOf(header.FileName.ToString());
        if (s_sound.ContainsKey(path)) return true;
        try
        {
            using (CheckpointReader reader = CheckpointReader.Open(log.Files, path, log.Identity)) { }
            return CheckpointVersion.WhatIsWrong(log.Location, header, chain).Length == 0 && s_sound.TryAdd(path, true);
        }
        catch (Exception e) when (e is LogDamage or IOException or ProtocolViolation)
        {
            return false;
        }
    }

    /// <summary>Says what may be deleted, or what it is kept for.</summary>
    public string Sentence()
    {
        string which = $"the build of version {Version}{(Build is { } known ? $" ({known})" : "")}", now = $"version {InForce}";
        return MayGo ? $"{now} is in force, and two checkpoints of it are sound: {which} may be deleted"
            : $"{now} is in force; keep {which} until two checkpoints of {now} are sound: {(Verified == 1 ? "one is" : "none is")} ('ambrosia checkpoint' takes one)";
    }
}
