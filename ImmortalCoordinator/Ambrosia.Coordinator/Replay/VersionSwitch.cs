using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Records;

namespace Ambrosia.Coordinator.Replay;

/// <summary>
/// Knows which version of the app executes what a session is given, and takes it through an upgrade: an app that carries both versions goes
/// on as the new one where the log has the record, with the very state that the record states. The thread that sends to the app, but where
/// a member says otherwise.
/// </summary>
internal sealed class VersionSwitch
{
    private volatile uint _runs;
    private uint _highest;
    private ConvertFrame? _wanted;

    /// <summary>The app was asked to go on as the version of this record, and has not answered; null: it was not. Any thread.</summary>
    private volatile UpgradeRecord? _asked;

    private volatile UpgradeRecord? _ends;

    private volatile bool _hasNextApp;

    /// <summary>The version of the app that is given records. Any thread.</summary>
    public uint Runs => _runs;

    /// <summary>Another app goes on where the log has the upgrade of this one's version; else the replica ends there. Any thread.</summary>
    public bool HasNextApp { get => _hasNextApp; set => _hasNextApp = value; }

    /// <summary>The record of the upgrade with which this app's records end; null: it was not met. Any thread.</summary>
    public UpgradeRecord? Ends => _ends;

    /// <summary>Says whether the app is given the record of an upgrade; false: its version ends there, and another app goes on.</summary>
    public bool MayGive(UpgradeRecord record)
    {
        if (!HasNextApp || record.VersionFrom != _runs || record.VersionTo <= _highest) return true;
        _ends = record;
        return false;
    }

    /// <summary>A session begins with records of the one version, and its app can go on as far as the other.</summary>
    public void Begin((uint Runs, uint Highest) versions)
    {
        _ends = null;
        (_runs, _highest) = versions;
        (_wanted, _asked) = (null, null);
    }

    /// <summary>Meets the record of an upgrade; false: it is not the app's to execute.</summary>
    public bool TryMeet(UpgradeRecord record, ulong lsn)
    {
        if (record.VersionFrom != _runs || record.VersionTo > _highest) return record.VersionTo == _runs;
        _runs = record.VersionTo;
        _asked = record;
        _wanted = new ConvertFrame(new(lsn), record.VersionFrom, record.VersionTo, ConversionUse.Switch);
        return true;
    }

    /// <summary>Returns what the app must be asked before it is given the record; null: nothing.</summary>
    public ConvertFrame? Take()
    {
        ConvertFrame? wanted = _wanted;
        _wanted = null;
        return wanted;
    }

    /// <summary>
    /// The app goes on as the new version. Returns what is wrong with its state; null: it is the one that the log states (U13). The thread
    /// that reads the app.
    /// </summary>
    /// <exception cref="ProtocolViolation">P5.25: nobody asked for it.</exception>
    public string? WhatIsWrong(ConvertedFrame answer)
    {
        UpgradeRecord record = _asked ?? throw new ProtocolViolation("P5.25", $"an answer at {answer.Position} that nobody asked for");
        _asked = null;
        return record.ImageHash == answer.Hash ? null : Differs(record, answer.Hash);
    }

    /// <summary>Says that a conversion has given another image than the one that the log states.</summary>
    public static string Differs(UpgradeRecord record, ulong hash) =>
        $"{Hashes(record, hash)}. It must be a function of the old state alone: where it is none, the app's lines name the field in which two conversions differ. Where they name none, its code was changed since, and no field can be named: {Mend(record)}";

    /// <summary>
    /// Says the same of a conversion that gives one state each time. What it gave then was in the checkpoints that cannot serve, so there
    /// is nothing left to compare with.
    /// </summary>
    /// <param name="build">It converts now; null: it states none.</param>
    public static string ChangedSince(UpgradeRecord record, ulong hash, BuildId? build) =>
        $"{Hashes(record, hash)}. It gives that each time, so its code, or that of the app of version {record.VersionFrom}, was changed since; it is build {Name(build)} now. No field can be named: {Mend(record)}";

    private static string Hashes(UpgradeRecord record, ulong hash) =>
        $"the conversion from version {record.VersionFrom} to {record.VersionTo} gives another state than when the upgrade was made: the upgrade at {record.Checkpoint} states image hash {record.ImageHash:x16}, and here it gave {hash:x16}";

    private static string Mend(UpgradeRecord record) =>
        $"the state of then was in the checkpoints of version {record.VersionTo} that are damaged, or gone. Start the build that made the upgrade, {Name(record.Build)}, or put a checkpoint of version {record.VersionTo} back from a backup";

    private static string Name(BuildId? build) => build?.Short ?? "which is not known";
}
