using System.Net;
using System.Net.Http.Headers;
using System.Security.Authentication;
using System.Text.Json;
using System.Text.Json.Serialization.Metadata;
using Ambrosia.Protocol.Texts;
using CRA.Catalog;

namespace CRA.Etcd;

/// <summary>
/// Speaks to the members of one etcd by their JSON gateways (etcd 3.4 and newer). It goes on to the next endpoint where one does not answer,
/// and stays with the one that does. A request that changes something may be made twice that way; its comparisons make the second one fail.
/// Any thread may call it; every call blocks, for at most <see cref="AnswerMax"/> an endpoint.
/// </summary>
internal sealed class EtcdClient : IDisposable
{
    /// <summary>What answers at all answers within this time, elections included.</summary>
    public static readonly TimeSpan AnswerMax = TimeSpan.FromSeconds(5);

    /// <summary>A longer answer is none: requests ask for pages that stay below it.</summary>
    public const int AnswerBytesMax = 16 << 20;

    private const int InvalidArgument = 3, PermissionDenied = 7, FailedPrecondition = 9, Unauthenticated = 16, TextCharsMax = 200;

    /// <summary>A request logs in so often at most: users may change again between a login and the request behind it.</summary>
    private const int LoginsMax = 3;

    private static readonly MediaTypeHeaderValue s_json = new("application/json");
    private static readonly Version s_oldest = new(3, 4);

    private readonly HttpClient _http;
    private readonly string _place;
    private readonly Uri[] _endpoints;
    private readonly CatalogCredentials _credentials;

    /// <summary>The endpoints whose version was looked at, each of which is set once.</summary>
    private readonly bool[] _isKnown;

    /// <summary>The endpoint that answered last, an index.</summary>
    private volatile int _current;

    /// <summary>
    /// The token of the user that was got last; null: there is no user, or none was got yet. A request takes it once, and sends what it has
    /// taken, so that what another request finds out about its own token changes nothing in this one.
    /// </summary>
    private volatile string? _token;

    /// <param name="handler">Connects; tests put one there that loses answers.</param>
    public EtcdClient(CatalogPlace place, CatalogCredentials credentials, HttpMessageHandler handler)
    {
        (_place, _credentials) = (place.Text, credentials);
        string scheme = credentials.Authorities is null ? "http" : "https";
        _endpoints = [.. place.Hosts.Select(host => new Uri($"{scheme}://{host}"))];
        _isKnown = new bool[_endpoints.Length];
        _http = new HttpClient(handler) { Timeout = AnswerMax, MaxResponseContentBufferSize = AnswerBytesMax };
    }

    /// <exception cref="CatalogException">The certificates will not do.</exception>
    public static EtcdClient Open(CatalogPlace place, CatalogCredentials credentials, TimeProvider time) =>
        new(place, credentials, EtcdHandler.Make(credentials, time));

    /// <exception cref="AnswerTooLongException">The answer is longer than <see cref="AnswerBytesMax"/>.</exception>
    public RangeResponse Range(RangeRequest request)
    {
        RangeResponse answer = Ask("/v3/kv/range", request, EtcdJsonContext.Default.RangeRequest, EtcdJsonContext.Default.RangeResponse);
        if (answer.Header is null) throw Rubbish("it has no header");
        return answer.Values?.Any(static value => value is null) == true ? throw Rubbish("a key in it is null") : answer;
    }

    /// <summary>Makes the operations together, if the comparisons hold; returns whether they did.</summary>
    public bool Txn(TxnRequest request)
    {
        TxnResponse answer = Ask("/v3/kv/txn", request, EtcdJsonContext.Default.TxnRequest, EtcdJsonContext.Default.TxnResponse);
        return answer.Header is null ? throw Rubbish("it has no header") : answer.HasSucceeded;
    }

    private TAnswer Ask<TRequest, TAnswer>(string path, TRequest request, JsonTypeInfo<TRequest> asked, JsonTypeInfo<TAnswer> answered)
    {
        byte[] body = JsonSerializer.SerializeToUtf8Bytes(request, asked);
        int first = _current;
        IOException? failure = null;
        for (int i = 0; i < _endpoints.Length; i++)
        {
            int endpoint = (first + i) % _endpoints.Length;
            try
            {
                TAnswer answer = Parse(AskOne(endpoint, path, body), answered);
                _current = endpoint;
                return answer;
            }
            catch (IOException e) when (e is not AnswerTooLongException)
            {
                failure = e;
            }
        }
        throw failure!;
    }

    private byte[] AskOne(int endpoint, string path, byte[] body)
    {
        CheckVersion(endpoint);
        string? token = _token;
        for (int logins = 0; ;)
        {
            if (_credentials.User is not null && token is null)
            {
                _token = token = LogIn(endpoint);
                logins++;
            }
            (HttpStatusCode status, byte[] answer) = Send(endpoint, HttpMethod.Post, path, body, token);
            if (status == HttpStatusCode.OK) return answer;
            ErrorResponse? error = TryParse(answer, EtcdJsonContext.Default.ErrorResponse);
            string why = Clean(error?.Message ?? error?.Error ?? $"HTTP status {(int)status}");
            bool isTokenOld = IsOfAnOldToken(error?.Code ?? 0, why);
            if (!isTokenOld || _credentials.User is null) throw Failure(endpoint, error?.Code ?? 0, why);
            if (logins == LoginsMax) throw new IOException($"etcd at {_endpoints[endpoint].Authority} takes no fresh token: {why}");
            token = _token is { } newer && newer != token ? newer : null; // another request may have logged in meanwhile
        }
    }

    /// <summary>
    /// The token is not good any more, and another one may be: it has run out, the member was started anew, or users were changed (a signed
    /// token says of which state of them it is). Members of other versions say it with other codes and words.
    /// </summary>
    private static bool IsOfAnOldToken(int code, string why) =>
        code is Unauthenticated or InvalidArgument
        || why.Contains("auth token", StringComparison.Ordinal) || why.Contains("revision of auth store", StringComparison.Ordinal);

    /// <summary>Tells what the operator has to mend from what passes.</summary>
    private Exception Failure(int endpoint, int code, string why)
    {
        string how = $"Set {CatalogCredentials.UserVariable} and {CatalogCredentials.PasswordFileVariable} for one who may read and write below the prefix.";
        if (code is PermissionDenied or Unauthenticated || (code == InvalidArgument && why.Contains("user name", StringComparison.Ordinal)))
            return new CatalogException($"The catalog {_place} does not let {(_credentials.User is { } user ? $"'{user}'" : "anybody without a name")} in: {why}. {how}");
        return new IOException($"etcd at {_endpoints[endpoint].Authority} says: {why}");
    }

    /// <summary>Returns a fresh token, or null if authentication is switched off in etcd, so that requests need none.</summary>
    private string? LogIn(int endpoint)
    {
        byte[] body = JsonSerializer.SerializeToUtf8Bytes(
            new AuthenticateRequest(_credentials.User!, _credentials.Password!), EtcdJsonContext.Default.AuthenticateRequest);
        (HttpStatusCode status, byte[] answer) = Send(endpoint, HttpMethod.Post, "/v3/auth/authenticate", body, token: null);
        if (status == HttpStatusCode.OK
            && TryParse(answer, EtcdJsonContext.Default.AuthenticateResponse)?.Token is { Length: > 0 } token) return token;
        ErrorResponse? error = TryParse(answer, EtcdJsonContext.Default.ErrorResponse);
        string said = $"{error?.Message}{error?.Error}";
        if (error is { Code: FailedPrecondition } && said.Contains("not enabled", StringComparison.Ordinal)) return null;
        if (error?.Code == InvalidArgument)
            throw new CatalogException(
                $"The catalog {_place} refuses user '{_credentials.User}': {Clean(error.Message ?? error.Error ?? "")}. Look at {CatalogCredentials.UserVariable} and at the file of {CatalogCredentials.PasswordFileVariable}.");
        throw new IOException($"etcd at {_endpoints[endpoint].Authority} gives user '{_credentials.User}' no token: {Clean(error?.Message ?? $"HTTP status {(int)status}")}");
    }

    private void CheckVersion(int endpoint)
    {
        if (Volatile.Read(ref _isKnown[endpoint])) return;
        (HttpStatusCode status, byte[] answer) = Send(endpoint, HttpMethod.Get, "/version", null, token: null);
        string? text = status == HttpStatusCode.OK ? TryParse(answer, EtcdJsonContext.Default.VersionResponse)?.Server : null;
        if (text is null || !Version.TryParse(text.Split('-')[0], out Version? version))
        {
            if ((int)status >= 500) throw new IOException($"etcd at {_endpoints[endpoint].Authority} answers with HTTP status {(int)status}");
            throw new CatalogException(
                $"What answers at {_endpoints[endpoint]} is no etcd: it does not say its version. Give the address of an etcd's clients, which ends with :2379 unless it was set otherwise.");
        }
        if (version < s_oldest)
            throw new CatalogException($"The etcd at {_endpoints[endpoint].Authority} is version {Clean(text)}, and the catalog needs {s_oldest} or newer. Upgrade it, or give another place.");
        Volatile.Write(ref _isKnown[endpoint], true);
    }

    private (HttpStatusCode Status, byte[] Answer) Send(int endpoint, HttpMethod method, string path, byte[]? body, string? token)
    {
        using var request = new HttpRequestMessage(method, new Uri(_endpoints[endpoint], path));
        if (body is not null) request.Content = new ByteArrayContent(body) { Headers = { ContentType = s_json } };
        if (token is not null) request.Headers.TryAddWithoutValidation("Authorization", token);
        try
        {
            using HttpResponseMessage answer = _http.Send(request, HttpCompletionOption.ResponseContentRead);
            using Stream content = answer.Content.ReadAsStream();
            byte[] bytes = new byte[content.Length];
            content.ReadExactly(bytes);
            return (answer.StatusCode, bytes);
        }
        catch (HttpRequestException e) when (e.HttpRequestError == HttpRequestError.ConfigurationLimitExceeded)
        {
            throw new AnswerTooLongException($"etcd at {_endpoints[endpoint].Authority} answers with more than {AnswerBytesMax} bytes");
        }
        catch (HttpRequestException e) when (Reason<CatalogException>(e) is { } refused)
        {
            throw new CatalogException($"{refused.Message} It was asked at {_endpoints[endpoint].Authority}.");
        }
        catch (HttpRequestException e)
        {
            string why = (Reason<AuthenticationException>(e) ?? e.InnerException ?? e).Message;
            throw new IOException($"etcd at {_endpoints[endpoint].Authority} cannot be reached: {Clean(why)}", e);
        }
        catch (OperationCanceledException e)
        {
            throw new IOException($"etcd at {_endpoints[endpoint].Authority} has not answered within {AnswerMax.TotalSeconds:0} s", e);
        }
    }

    private static T? Reason<T>(Exception? e)
        where T : Exception
    {
        while (e is not (null or T)) e = e.InnerException;
        return (T?)e;
    }

    private TAnswer Parse<TAnswer>(byte[] answer, JsonTypeInfo<TAnswer> type) =>
        TryParse(answer, type) ?? throw Rubbish("it is not the JSON that was asked for");

    private static T? TryParse<T>(byte[] text, JsonTypeInfo<T> type)
    {
        try
        {
            return JsonSerializer.Deserialize(text, type);
        }
        catch (JsonException)
        {
            return default;
        }
    }

    private IOException Rubbish(string why) => new($"the answer of the catalog {_place} makes no sense: {why}");

    /// <summary>Cuts a text of the other side and makes it harmless, since it reaches terminals and log lines.</summary>
    private static string Clean(string text) => HarmlessText.Beginning(text, TextCharsMax);

    public void Dispose() => _http.Dispose();
}

/// <summary>There is more than one answer may hold, so that less has to be asked for at once.</summary>
internal sealed class AnswerTooLongException(string message) : IOException(message);
