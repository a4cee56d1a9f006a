using Ambrosia.Coordinator.Primary;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Log.Cutting;
using Ambrosia.Log.Fencing;
using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Log.Instances;
using Ambrosia.Log.Recovery;
using Ambrosia.Log.Segments;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Locking;
using CRA.Authentication;
using CRA.Catalog;
using CRA.Links;
using Microsoft.Extensions.Logging;

namespace Ambrosia.Coordinator.Hosting;

/// <summary>
/// Finds the instance of a start, or makes it. Whatever a user may have got wrong is looked at first and refused (exit 2); only then is
/// anything made. The starting thread uses it.
/// </summary>
internal sealed class InstanceStart(
    CoordinatorOptions options, IFileSystem files, ICatalog catalog, CertificateFiles? certificates, ILogger logger)
{
    /// <summary>A server's directory, which another machine changes, may show for so many looks what is not there.</summary>
    private const int LooksMax = 10;

    private static readonly TimeSpan s_lookEvery = TimeSpan.FromMilliseconds(500);

    /// <exception cref="MisuseException">What was asked for cannot be done: nothing was made.</exception>
    /// <exception cref="OperationCanceledException">The process is asked to end.</exception>
    public InstanceIdentity FindOrCreate(CancellationToken stop)
    {
        if (options.App is [var program, ..] && AppPath.WhatIsWrong(program) is { } unknown)
            throw new MisuseException($"{unknown}; give the program's path, and its arguments, behind --");
        if (FileIn(options.LogDirectory) is { } file)
            throw new MisuseException(
                $"the log cannot be made in {options.LogDirectory}: {file} is a file. Give with --log a directory on a file system where this user may write.");
        RefuseUnsafe("log", options.LogDirectory);
        if (options.Catalog.IsDirectory) RefuseUnsafeCatalog(options.Catalog.Path);
        if (options.Run is { } run) RefuseUnsafeRun(run);
        if (options.AppSocket is not null || options.AppPort is not null) AppEndpoint.Check(options);
        Listening(() => _ = certificates?.Current);
        var name = new InstanceId(options.Instance);
        if (files.Exists(Path.Combine(options.LogDirectory, LogCut.FileName)))
            throw new MisuseException(
                $"{options.LogDirectory} is a cut of a log, as {LogCut.FileName} in it says: what was called behind it is in no log, so it can be looked at and not run. Look at it with 'ImmortalCoordinator debug' or 'ambrosia replay', or give the directory of the log.");
        InstanceIdentity? found = InstanceDirectory.TryRead(files, options.LogDirectory);
        if (found is null) InstanceDirectory.RefuseNameless(files, options.LogDirectory);
        CatalogEntry? entry = Asking(isNew: found is null,
            () => { catalog.CheckSecret(); return catalog.Find(found is null ? name : new InstanceId(found.Name, found.Shard)); });
        if (found is not null) return Known(found, entry, stop);
        if (entry is not null && !options.Create)
            throw new MisuseException(
                $"the catalog has an instance '{options.Instance}' with its log in {entry.LogPath}. Start it there; or, if that log is gone for good, begin a new one with --create.");
        if (entry is not null) RefuseToReplaceTheLiving(entry);
        Listening(() => LinkListener.Check(options.Listen, options.Insecure || certificates is not null));
        return Create(() => { if (entry is not null) catalog.Forget(name); });
    }

    /// <summary>Two builds are to make an upgrade that the log does not have: the old one must be there. Behind it, it need not.</summary>
    /// <exception cref="MisuseException">It is not.</exception>
    public static void RequireOldApp(CoordinatorOptions options, uint inForce)
    {
        if (inForce > 0 && options.Upgrade is { OldApp: [var program, ..] } upgrade && inForce < upgrade.To
            && AppPath.WhatIsWrong(program) is { } unknown)
            throw new MisuseException($"{unknown}; give the old build's program, and its arguments, as one text with --old-app");
    }

    /// <summary>Returns the part of a directory's path that is a file, so that there can be no such directory; null: none is.</summary>
    private static string? FileIn(string directory)
    {
        for (string? part = Path.GetDirectoryName(Path.GetFullPath(directory)); part is not null; part = Path.GetDirectoryName(part))
            if (File.Exists(part)) return part;
        return null;
    }

    private static void RefuseUnsafeRun(string directory)
    {
        if (File.Exists(directory) || FileIn(directory) is not null)
            throw new MisuseException($"--run {directory} is no directory, and none can be made there. Give the path of one, or one that does not exist yet.");
        if (FileRights.WhatIsWrongWithPrivateDirectory(directory) is { } wrong)
            throw new MisuseException(
                $"sockets and the app's token cannot be in --run {directory}: {wrong}. Mend it with 'chmod 700 {directory}', as the user that runs the coordinator, or give a directory that does not exist yet.");
    }

    private void RefuseUnsafeCatalog(string directory)
    {
        RefuseUnsafe("catalog", directory);
        if (Path.TrimEndingDirectorySeparator(Path.GetFullPath(options.LogDirectory)) == Path.TrimEndingDirectorySeparator(directory))
            throw new MisuseException(
                $"--log and --catalog are the same directory, {options.LogDirectory}: the log needs one of its own, and the catalog another. Give --catalog the directory that all coordinators share.");
    }

    /// <summary>
    /// Only the dead give their names up: the process of a living one would find its name taken, and end. Where its log can be seen from
    /// here its locks say whether it lives; elsewhere whoever has the catalog's secret and listens at its address does.
    /// </summary>
    private void RefuseToReplaceTheLiving(CatalogEntry entry)
    {
        if (LivingInstance.Find(files, entry, Links) is { } living)
            throw new MisuseException(
                $"the name '{options.Instance}' belongs to an instance that lives: {living}. Stop it first, if a new one is to have its name; or begin the new one under another name.");
    }

    private InstanceIdentity Known(InstanceIdentity found, CatalogEntry? entry, CancellationToken stop)
    {
        if (found.Name != options.Instance)
            throw new MisuseException(
                $"{options.LogDirectory} holds the log of instance '{found.Name}', not of '{options.Instance}'. Give its own name, or another directory.");
        if (entry is not null && entry.Uuid != found.Uuid) throw new MisuseException(NameTaken(found, entry));
        Epoch epoch = Fence.Current(files, options.LogDirectory, found);
        if (LogCopyCheck.WhatIsWrong(found, options.LogDirectory, DirectoryId.Of(options.LogDirectory), epoch, entry,
            path => InstanceDirectory.TryRead(files, path)?.Uuid == found.Uuid,
            primary => RunsElsewhere(found, entry!, primary, stop)) is { } wrong)
            throw new MisuseException(wrong);
        var log = new LogLocation(files, options.LogDirectory, found);
        LogChain chain = Check(log, entry?.Epoch, stop); // before anything is claimed: what is missed now is missed at the next start
        if (LogStart.FindGap(log, chain) is { } gap) logger.HistoryMissing(gap.Missing, gap.Before[^1], gap.From);
        return found;
    }

    /// <summary>
    /// Asks at the entry's address for the instance. A primary that holds its lock in this very directory is the one that this process is
    /// to follow; and a directory that machines share has the fence, and perhaps no locks that can be seen from here.
    /// </summary>
    private bool RunsElsewhere(InstanceIdentity own, CatalogEntry entry, ReplicaEntry primary, CancellationToken stop) =>
        !PrimaryClaim.HasPrimary(files, options.LogDirectory, own) && MountId.OfShared(options.LogDirectory) is null
        && AskedPrimary.Answers(entry, primary, Links, stop);

    /// <summary>The settings of the connections that the start makes; they carry no message.</summary>
    private LinkSettings Links => LinkPump.SettingsOf(options, catalog, certificates, new PeerMemory().Receiving);

    private static LogChain Check(LogLocation log, Epoch? published, CancellationToken stop)
    {
        for (int looks = 1; ; looks++)
        {
            try
            {
                return LogStart.Check(log, published);
            }
            catch (LogDamage damage) when (damage.MayPass && looks < LooksMax)
            {
                LockChecks.BeforeWait();
                stop.WaitHandle.WaitOne(s_lookEvery);
                stop.ThrowIfCancellationRequested();
            }
        }
    }

    /// <summary>Says that two instances have one name, and what can be done.</summary>
    public static string NameTaken(InstanceIdentity own, CatalogEntry? entry) =>
        $"the name '{own.Name}' belongs to another instance in the catalog ({entry?.Uuid.ToString() ?? "unknown"}, its log is in {entry?.LogPath ?? "an unknown place"}); the log here is that of {own.Uuid}. "
        + $"Use another catalog for this one; or, if the other is gone for good, remove its entry from the catalog (the files '{own.Name}.*' of a directory, the value 'instance:{own.Name}' of a store) and start again.";

    private InstanceIdentity Create(Action forget)
    {
        bool wasThere = Directory.Exists(options.LogDirectory);
        if (wasThere && !Directory.EnumerateFileSystemEntries(options.LogDirectory).Any())
            File.SetUnixFileMode(options.LogDirectory, UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.UserExecute);
        try
        {
            Making("log", options.LogDirectory, "Give with --log a directory on a file system where this user may write.",
                () => InstanceDirectory.Prepare(files, options.LogDirectory));
            Making("catalog", options.Catalog.Text, options.Catalog.IsDirectory
                ? "Give with --catalog a directory on a file system where this user may write." : "Start the store, or give another place with --catalog.",
                () => { _ = catalog.Secret; forget(); });
            return InstanceDirectory.Create(files, options.LogDirectory, options.Instance, 0, Guid.NewGuid(),
                TimeProvider.System.GetUtcNow().ToUnixTimeMilliseconds() * 1000, options.Replica, Crash.Points);
        }
        catch (InstanceExistsException e)
        {
            throw new MisuseException($"{e.Message} Give an empty directory or one that does not exist.");
        }
        catch (MisuseException) when (!wasThere && Directory.Exists(options.LogDirectory))
        {
            Directory.Delete(options.LogDirectory);
            throw;
        }
    }

    private static void Making(string what, string place, string mend, Action make)
    {
        try
        {
            make();
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw new MisuseException($"the {what} cannot be made in {place}: {e.Message.TrimEnd('.')}. {mend}");
        }
        catch (CatalogException e)
        {
            throw new MisuseException(e.Message);
        }
    }

    private T Asking<T>(bool isNew, Func<T> ask)
    {
        try
        {
            return ask();
        }
        catch (CatalogException e)
        {
            throw new MisuseException(e.Message);
        }
        // of a known instance: exit 74, try again
        catch (Exception e) when (e is UnauthorizedAccessException || (e is IOException io && (isNew || IFileSystem.IsForbidden(io))))
        {
            throw new MisuseException(
                $"the catalog in {options.Catalog} cannot be read: {e.Message.TrimEnd('.')}. {(options.Catalog.IsDirectory ? "Give its directory with --catalog." : "Start the store, or give its place with --catalog.")}");
        }
    }

    private void RefuseUnsafe(string what, string directory)
    {
        if (File.Exists(directory))
            throw new MisuseException(
                $"--{what} {directory} is no directory: the {what} is kept in a directory of its own. Give the path of one, or one that does not exist yet.");
        if (FileRights.IsSeenByOthers(directory)) logger.DirectoryExposed(what, directory);
        if (FileRights.WhatIsWrongWithOwnDirectory(directory) is { } wrong)
            throw new MisuseException(
                $"the {what}'s directory {directory} is not safe: {wrong}. Mend it with 'chmod 700 {directory}', as the user that runs the coordinator.");
    }

    /// <summary>Begins to listen for links. An address or a certificate that cannot be used is the user's mistake.</summary>
    public static void Listening(Action listen)
    {
        try
        {
            listen();
        }
        catch (Exception e) when (e is LinkAddressException or LinkCertificateException)
        {
            throw new MisuseException(e.Message);
        }
    }
}
