using CRA.Catalog;

namespace CRA.Tests;

/// <summary>What happens to one request to a store.</summary>
public enum CatalogFault
{
    None,

    /// <summary>It does not arrive.</summary>
    RequestLost,

    /// <summary>It takes effect, and nobody hears of it.</summary>
    AnswerLost,

    /// <summary>It takes effect, if it can, twice.</summary>
    Doubled,

    /// <summary>It fails, and takes effect later.</summary>
    Late,

    /// <summary>The process that makes it ends before it.</summary>
    Crash,
}

/// <summary>The process that was to make a request has ended.</summary>
public sealed class PublisherCrashException : Exception;

/// <summary>Decides what happens to each request, and lets others act before it. One thread at a time uses it.</summary>
public sealed class CatalogFaults
{
    private readonly Queue<Action> _late = new();

    /// <summary>Says what happens to the next request.</summary>
    public Func<CatalogFault> Next { get; set; } = static () => CatalogFault.None;

    /// <summary>Is called before each request: what others do meanwhile.</summary>
    public Action Meanwhile { get; set; } = static () => { };

    public int Requests { get; private set; }

    public T Make<T>(Func<T> request)
    {
        Requests++;
        Meanwhile();
        switch (Next())
        {
            case CatalogFault.RequestLost: throw new IOException("planted: the request was lost");
            case CatalogFault.AnswerLost:
                request();
                throw new IOException("planted: the answer was lost");
            case CatalogFault.Doubled:
                T first = request();
                request();
                return first;
            case CatalogFault.Late:
                _late.Enqueue(() => request());
                throw new IOException("planted: the request is late");
            case CatalogFault.Crash: throw new PublisherCrashException();
            default: return request();
        }
    }

    public void Make(Action request) => Make(() =>
    {
        request();
        return true;
    });

    /// <summary>Lets the requests arrive that are late.</summary>
    public void Deliver()
    {
        while (_late.TryDequeue(out Action? request)) request();
    }
}

/// <summary>A store between which and the catalog requests fail.</summary>
public sealed class FaultyStore(ICatalogStore store, CatalogFaults faults) : ICatalogStore
{
    public string Place => store.Place;

    public StoredValue? Read(string name) => faults.Make(() => store.Read(name));

    public IReadOnlyList<KeyValuePair<string, StoredValue>> ReadAll(string prefix) => faults.Make(() => store.ReadAll(prefix));

    public IReadOnlyList<KeyValuePair<string, ulong>> ReadLabels(string prefix) => faults.Make(() => store.ReadLabels(prefix));

    public bool TryWrite(string name, ReadOnlyMemory<byte> value, ulong label, string? version) =>
        faults.Make(() => store.TryWrite(name, value, label, version));

    public bool TryRemove(string name, string version) => faults.Make(() => store.TryRemove(name, version));

    public string? FindForeign(IReadOnlyList<string> prefixes) => faults.Make(() => store.FindForeign(prefixes));
}

/// <summary>The files of a directory whose operations fail; a disk makes none of them late or twice.</summary>
public sealed class FaultyCatalogFiles(ICatalogFiles files, CatalogFaults faults) : ICatalogFiles
{
    public IReadOnlyList<string> List() => faults.Make(files.List);

    /// <summary>It does not fail: a file that is listed and cannot be read is passed over by rule (P8.2), as a foreign one is.</summary>
    public byte[]? Read(string name, int bytesMax)
    {
        faults.Meanwhile();
        return files.Read(name, bytesMax);
    }

    public string? WhatIsOpen(string name) => files.WhatIsOpen(name);

    public string PathOf(string name) => files.PathOf(name);

    public void Replace(string name, ReadOnlySpan<byte> content)
    {
        byte[] bytes = content.ToArray();
        faults.Make(() => files.Replace(name, bytes));
    }

    public bool CreateNew(string name, ReadOnlySpan<byte> content)
    {
        byte[] bytes = content.ToArray();
        return faults.Make(() => files.CreateNew(name, bytes));
    }

    public void Delete(string name) => faults.Make(() => files.Delete(name));
}

/// <summary>The way of HTTP requests to a store, on which they fail. Each is sent as a copy, so that one may be sent later, or
/// twice.</summary>
public sealed class FaultyHandler(HttpMessageHandler inner, CatalogFaults faults) : DelegatingHandler(inner)
{
    protected override HttpResponseMessage Send(HttpRequestMessage request, CancellationToken cancellation)
    {
        Func<HttpRequestMessage> copy = Copied(request);
        try
        {
            return faults.Make(() => base.Send(copy(), CancellationToken.None));
        }
        catch (IOException e)
        {
            throw new HttpRequestException(e.Message, e);
        }
    }

    private static Func<HttpRequestMessage> Copied(HttpRequestMessage request)
    {
        (HttpMethod method, Uri? uri) = (request.Method, request.RequestUri);
        var headers = request.Headers.ToArray();
        var contentHeaders = request.Content?.Headers.ToArray();
        byte[]? content = null;
        if (request.Content is not null)
        {
            using var bytes = new MemoryStream();
            request.Content.CopyTo(bytes, null, CancellationToken.None);
            content = bytes.ToArray();
        }
        return () =>
        {
            var copy = new HttpRequestMessage(method, uri);
            foreach (var header in headers) copy.Headers.TryAddWithoutValidation(header.Key, header.Value);
            if (content is null) return copy;
            copy.Content = new ByteArrayContent(content);
            foreach (var header in contentHeaders!) copy.Content.Headers.TryAddWithoutValidation(header.Key, header.Value);
            return copy;
        };
    }
}
