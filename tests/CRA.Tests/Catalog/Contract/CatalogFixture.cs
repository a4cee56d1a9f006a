using System.Collections.Concurrent;
using Ambrosia.Protocol;
using Ambrosia.TestKit;
using CRA.Catalog;
using Microsoft.Extensions.Logging;

namespace CRA.Tests;

/// <summary>What a catalog's fixture can do beside opening it; cases that need more are not for it.</summary>
[Flags]
public enum CatalogFeatures
{
    None = 0,

    /// <summary>Values can be put there past the catalog.</summary>
    Raw = 1,

    /// <summary>Its requests can be made to fail.</summary>
    Faults = 2,

    /// <summary>It changes by compare and swap, so that a name goes to exactly one of two who want it at once.</summary>
    Swaps = 4,

    /// <summary>A network is between: requests come late and twice, and the place may hold things of others.</summary>
    Network = 8,

    /// <summary>The store can be stopped and started again.</summary>
    Restart = 16,
}

/// <summary>One place of a catalog, empty at first, for one case of <see cref="CatalogContract"/>.</summary>
public abstract class CatalogFixture : IDisposable
{
    public abstract CatalogFeatures Features { get; }

    /// <summary>How many random programs a release runs; a store that answers slowly has fewer.</summary>
    public virtual int ProgramsOfARelease => 600;

    /// <summary>The events that the catalogs have logged.</summary>
    public ConcurrentQueue<string> Warnings { get; } = new();

    protected ILogger Logger => EventRecorder.OfTexts(Warnings.Enqueue);

    /// <summary>Another process's view on the same place.</summary>
    public abstract ICatalog NewCatalog(CatalogFaults? faults = null, bool mayMakeSecret = true);

    /// <summary>Puts a text where the entry of an instance is.</summary>
    public virtual void PutEntry(InstanceId instance, ulong epoch, string text) => throw new NotSupportedException();

    public virtual void PutSecret(byte[] secret) => throw new NotSupportedException();

    /// <summary>Puts something there that no catalog makes.</summary>
    public virtual void PutForeign() => throw new NotSupportedException();

    /// <summary>Kills the store; until <see cref="Start"/> nobody answers.</summary>
    public virtual void Kill() => throw new NotSupportedException();

    public virtual void Start() => throw new NotSupportedException();

    public virtual void Dispose() { }
}
