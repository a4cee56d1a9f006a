using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Records;

namespace Ambrosia.Simulation;

/// <summary>
/// Watches which version of an app is given which records (I19): everything below the Upgrade record by the old one, it and everything
/// behind it by the new one, on whatever replica and however often, and there is one such record.
/// </summary>
internal sealed class VersionsOracle
{
    private readonly Dictionary<InstanceId, History> _histories = [];

    private sealed class History
    {
        /// <summary>The old version was given everything below, at most; and the new one nothing below.</summary>
        public Lsn OldUpTo = Lsn.Zero, NewFrom = new(Lsn.Limit - 1);

        public Lsn? UpgradeAt;
    }

    /// <summary>An app was given the record of an upgrade.</summary>
    public bool IsUpgraded(InstanceId instance) => _histories.TryGetValue(instance, out History? history) && history.UpgradeAt is not null;

    /// <summary>Begins to watch what one session of an app is sent.</summary>
    public Session NewSession(InstanceId instance)
    {
        if (!_histories.TryGetValue(instance, out History? history)) _histories.Add(instance, history = new History());
        return new Session(history);
    }

    /// <summary>The log was deleted for good.</summary>
    public void Forget(InstanceId instance) => _histories.Remove(instance);

    /// <summary>Watches one session.</summary>
    internal sealed class Session
    {
        private readonly History _history;
        private uint _version = Upgrades.From;

        internal Session(object history) => _history = (History)history;

        /// <summary>A whole frame, or the beginning of one, is sent to the app; returns what is wrong with it, null: nothing.</summary>
        public string? Sent(ReadOnlySpan<byte> bytes)
        {
            FrameHeader header = FrameHeader.Read(bytes, 0, int.MaxValue);
            ReadOnlySpan<byte> payload = bytes[FrameHeader.Bytes..];
            switch (header.Type)
            {
                case FrameType.AppWelcome: _version = AppWelcome.Read(payload[..(int)header.Length]).RunsVersion ?? Upgrades.From; break;
                case FrameType.Convert when ConvertFrame.Read(payload[..(int)header.Length]) is { Use: ConversionUse.Switch } turn:
                    _version = turn.To;
                    break;
                case FrameType.Deliver: return Delivered(DeliverHeader.Read(payload), header.Length - DeliverHeader.Bytes, payload);
            }
            return null;
        }

        private string? Delivered(DeliverHeader deliver, long length, ReadOnlySpan<byte> payload)
        {
            bool isUpgrade = payload.Length > DeliverHeader.Bytes + 4
                && (RecordKind)payload[DeliverHeader.Bytes + 4] == RecordKind.Upgrade;
            if (isUpgrade)
            {
                if (_history.UpgradeAt is { } other && other != deliver.First) return $"a second upgrade at {deliver.First}, behind {other}";
                _history.UpgradeAt = deliver.First;
            }
            if (_version == Upgrades.From) _history.OldUpTo = Lsn.Max(_history.OldUpTo, deliver.First + length);
            else if (deliver.First < _history.NewFrom) _history.NewFrom = deliver.First;
            if (_version == Upgrades.From && isUpgrade) return $"version {_version} is given the upgrade at {deliver.First}";
            return _history.OldUpTo > _history.NewFrom
                ? $"version {_version} is given the log from {deliver.First} on, version {Upgrades.From} was given it up to {_history.OldUpTo} and version {Upgrades.To} from {_history.NewFrom} on"
                : null;
        }
    }
}
