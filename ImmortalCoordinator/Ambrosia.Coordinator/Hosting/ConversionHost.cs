using System.Collections.Concurrent;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Coordinator.Upgrades;
using Ambrosia.Coordinator.Views;
using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Microsoft.Extensions.Logging;

namespace Ambrosia.Coordinator.Hosting;

/// <summary>
/// Lets the new app of an upgrade try what becomes of states of the old one, in a process of its own, as it would in a live upgrade. The
/// log is only read. One thread asks, and waits for each answer.
/// </summary>
public sealed class ConversionHost : IDisposable
{
    private const int ChunkBytes = 64 * 1024;

    private readonly BlockingCollection<Answer> _answers = [];
    private readonly UpgradeOptions _upgrade;
    private readonly ViewParts _parts;
    private readonly ViewApp _app;

    /// <summary>Holds what the app has said of a state, or that it says nothing any more.</summary>
    private sealed record Answer(ConvertedFrame? Converted, ViewEndedException? Over = null);

    /// <param name="app">The new app, with its arguments.</param>
    /// <param name="to">The version that it states.</param>
    /// <exception cref="MisuseException">The directory is no log, or the app no program.</exception>
    /// <exception cref="LogDamage">The log's chain is damaged.</exception>
    public ConversionHost(string logDirectory, IReadOnlyList<string> app, uint to, IFileSystem files, ILogger logger)
    {
        if (AppPath.WhatIsWrong(app[0]) is { } unknown) throw new MisuseException(unknown);
        _upgrade = new UpgradeOptions(to) { OldApp = app }; // that there is an old app is what counts
        _parts = new ViewParts(
            new ViewedLog(logDirectory, Upgrade: _upgrade), files, logger, End,
            new ConvertingView(answer => _answers.Add(new Answer(answer))));
        _app = new ViewApp(app, _parts.Environment, AppEnded, End);
        _parts.Pump.Start();
        _app.Start();
    }

    /// <summary>Lets the app try to convert a state; returns what it says, with the length and the hash of the new image.</summary>
    /// <param name="from">The version of the app whose state it is.</param>
    /// <exception cref="ViewEndedException">The app cannot be started, or is no app of this service and version.</exception>
    public ConvertedFrame Rehearse(ViewedImage state, uint from, CancellationToken stop = default)
    {
        StateHandover handover = _parts.Coordinator.Upgrades.Handover;
        handover.Begin(new ConvertFrame(Lsn.Zero, from, _upgrade.To, ConversionUse.Rehearsal));
        handover.OldAppAnswers(new ConvertedFrame(state.Position, ConversionUse.State, 0, 0, ""));
        handover.Take(new ImageBegin(state.Position, state.Version));
        for (long at = 0; at < state.Bytes.Length;)
        {
            ReadOnlySpan<byte> rest = state.Bytes.From(at);
            ReadOnlySpan<byte> chunk = rest[..Math.Min(ChunkBytes, rest.Length)];
            handover.TakeChunk(chunk);
            at += chunk.Length;
        }
        handover.Take(new ImageEnd((ulong)state.Bytes.Length, state.Hash));
        Answer next = _answers.Take(stop);
        return next.Converted ?? throw next.Over!;
    }

    private bool AppEnded(int code)
    {
        End(code == ExitCodes.Misuse ? ExitCodes.Misuse : ExitCodes.Io, $"the app has ended with code {code}; its own lines say why");
        return false;
    }

    private void End(int code, string why) => _answers.Add(new Answer(null, new ViewEndedException(code, why)));

    public void Dispose()
    {
        _app.Dispose();
        _parts.Coordinator.Upgrades.Handover.Drop();
        _parts.Dispose();
    }
}
