using System.Security.Cryptography;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Images.Masking;
using Ambrosia.Images.Reading;
using Ambrosia.Inspection.Checkpoints;
using Ambrosia.Inspection.Cuts;
using Ambrosia.Inspection.Decoding;
using Ambrosia.Log.Checkpoints;
using Ambrosia.Log.Cutting;
using Ambrosia.Log.Format;
using Ambrosia.Log.Instances;
using Ambrosia.Log.Reading;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Checkpoints;
using Ambrosia.Protocol.Payloads;
using Ambrosia.Protocol.Records;

namespace Ambrosia.Inspection.Masking;

/// <summary>
/// Masks a cut while it is copied. It reads the stretch once before, so that whatever a rule names anywhere is known where the same stands
/// under another name. Its key is made here and kept nowhere. One thread, one use.
/// </summary>
internal sealed class CutMasking : ICutRewriting, IDisposable
{
    private const int KeyBytes = 16, SecretBytes = 32, NearMax = 5;

    private readonly LogLocation _log;
    private readonly NumberShuffle _shuffle = new(RandomNumberGenerator.GetBytes(KeyBytes));
    private readonly ValueMasker _masker;
    private readonly MessageMasking _messages;
    private readonly RecordMasking _records;
    private LargeBuffer? _image;

    /// <param name="rules">As the user wrote them.</param>
    public CutMasking(LogLocation log, ContractManifests contracts, IReadOnlyList<string> rules)
    {
        _log = log;
        var texts = new MaskedTexts(RandomNumberGenerator.GetBytes(SecretBytes));
        _masker = new ValueMasker(new MaskRules(rules), texts, new MaskedNumbers(_shuffle));
        _messages = new MessageMasking(contracts, _masker);
        _records = new RecordMasking(_messages, _masker);
    }

    public ulong PreviousHash { get; } = BitConverter.ToUInt64(RandomNumberGenerator.GetBytes(sizeof(ulong)));

    /// <summary>The tally of what was masked, and of what was not.</summary>
    public MaskTally Tally => new(_masker.Rules);

    /// <summary>Reads what is to be copied, and finds what the rules name in it.</summary>
    /// <param name="end">What stands below is copied, and the rest of its page.</param>
    /// <param name="progress">Hears how many bytes of log are read.</param>
    /// <exception cref="MisuseException">A rule names nothing, or something cannot be masked.</exception>
    /// <exception cref="LogDamage">The log or the checkpoint is damaged.</exception>
    public void Learn(CutBeginning beginning, Lsn end, Action<long> progress)
    {
        _messages.Declare();
        CheckpointHeader? checkpoint = null;
        if (beginning.Name is { } name)
        {
            using CheckpointReader reader = CheckpointReader.Open(_log.Files, Path.Combine(_log.Directory, name.ToString()), _log.Identity);
            checkpoint = reader.Header;
            _image = CheckpointImages.Read(reader);
            MaskImage();
        }
        using LogScan scan = LogScan.Open(_log.Files, _log.Directory, _log.Identity,
            new ScanOptions { From = checkpoint?.PageLsn, PreviousHash = checkpoint?.PreviousHash });
        var records = new RecordAssembler();
        while (scan.Next())
        {
            records.Take(scan.Page, Learn);
            progress(scan.Position - scan.From);
            if (scan.Position >= end && scan.Page.Remaining == 0) break;
        }
        RefuseUnknown();
        _masker.IsLearning = false;
    }

    /// <summary>Returns a text of the user's with what is masked in the cut.</summary>
    public string Masked(string text) => _masker.Texts.Replaced(text);

    public void Rewrite(RecordKind kind, Span<byte> body) => _records.Mask(kind, body);

    public void Rewrite(CheckpointReader from, CheckpointWriter to)
    {
        using (var outboxes = new OutboxMasking(from, CoordinatorPart.Read(from.CoordinatorBytes.Span)))
        {
            to.Write(CheckpointSection.CoordinatorPart, outboxes.Part.ToBytes());
            outboxes.Write(to);
        }
        MaskImage();
        for (long at = 0; at < _image!.Length;)
        {
            ReadOnlySpan<byte> piece = _image.From(at);
            to.Write(CheckpointSection.Image, piece);
            at += piece.Length;
        }
    }

    public void Dispose()
    {
        _image?.Dispose();
        _shuffle.Dispose();
    }

    private bool Learn(Lsn lsn, RecordKind kind, ReadOnlySpan<byte> body, long timeMicros, Epoch epoch)
    {
        _records.Mask(kind, body.ToArray());
        return true;
    }

    private void MaskImage()
    {
        try
        {
            ImageMasking.Run(_image!, _masker, _messages);
        }
        catch (ImageException e)
        {
            throw new MisuseException(
                "the state in the checkpoint cannot be masked", e.Message, "begin with another --checkpoint, or with 'start'");
        }
    }

    private void RefuseUnknown()
    {
        if (_masker.Rules.Unknown.FirstOrDefault() is not { } rule) return;
        IReadOnlyList<string> near = Texts.NearestNames.Of(rule, _masker.Rules.Names.Select(static each => each.Label), NearMax);
        throw new MisuseException($"the rule '{rule}' of --mask names nothing",
            "neither the contracts of this log nor its state have such a parameter, field or method's result",
            near.Count > 0 ? $"near it there {(near.Count == 1 ? "is" : "are")} {string.Join(", ", near)}" : "");
    }
}
