using System.Buffers.Text;
using System.Collections.Frozen;
using System.Collections.Immutable;
using System.Globalization;
using System.Net;
using System.Net.Http;
using System.Net.Sockets;
using System.Numerics;
using System.Reflection;
using System.Security.Cryptography;
using System.Text;
using System.Text.Json;
using System.Text.RegularExpressions;
using System.Xml;
using System.Xml.Linq;

namespace Ambrosia.Binding.Tests;

/// <summary>Makes the framework, the runtime and the system throw what they throw, in the words that they have for it here.</summary>
internal static class FrameworkExceptions
{
    internal static IReadOnlyDictionary<string, Action> All { get; } = new Dictionary<string, Action>
    {
        ["null reference"] = static () => _ = ((string)Nothing!).Length,
        ["index of an array"] = static () => _ = new int[Two].ToArray()[5],
        ["cast"] = static () => _ = (string)Anything,
        ["unboxing"] = static () => _ = (long)Anything,
        ["cast of generic types"] = static () => _ = (List<string>)(object)new List<int>(),
        ["division"] = static () => _ = 1 / (Two - 2),
        ["decimal division"] = static () => _ = 1m / (Two - 2),
        ["overflow"] = static () => _ = checked(int.MaxValue + Two),
        ["array of another type"] = static () => ((object[])new string[1])[0] = Anything,
        ["negative array"] = static () => _ = new int[Two - 3],
        ["no such case"] = static () => throw new System.Runtime.CompilerServices.SwitchExpressionException(Two),
        ["type initializer"] = static () => _ = Uninitialized.Value,
        ["no such assembly"] = static () => Assembly.Load("No.Such.Assembly"),
        ["no such type"] = static () => Type.GetType("No.Such.Type, System.Private.CoreLib", throwOnError: true),
        ["dictionary key"] = static () => _ = new Dictionary<string, int>()["bob's"],
        ["dictionary key twice"] = static () => new Dictionary<string, int> { ["bob"] = 1 }.Add("bob", 2),
        ["sorted dictionary key"] = static () => _ = new SortedDictionary<string, int>()["bob"],
        ["frozen dictionary key"] = static () => _ = FrozenDictionary<string, int>.Empty["bob"],
        ["immutable dictionary key"] = static () => _ = ImmutableDictionary<string, int>.Empty["bob"],
        ["immutable array"] = static () => _ = default(ImmutableArray<int>).ToBuilder(),
        ["index of a list"] = static () => _ = new List<int>()[Two],
        ["range of a list"] = static () => new List<int>().RemoveRange(0, Two),
        ["collection modified"] = ModifyWhileEnumerating,
        ["queue"] = static () => new Queue<int>().Dequeue(),
        ["stack"] = static () => new Stack<int>().Pop(),
        ["priority queue"] = static () => new PriorityQueue<int, int>().Dequeue(),
        ["first"] = static () => Array.Empty<int>().First(),
        ["first of such"] = static () => Array.Empty<int>().First(static i => i > 3),
        ["single"] = static () => new[] { 1, 2 }.Single(),
        ["max"] = static () => Array.Empty<int>().Max(),
        ["read only"] = static () => ((IList<int>)ImmutableList<int>.Empty).Add(1),
        ["enumeration by many"] = static () => new[] { 1 }.AsEnumerable().ElementAt(Two),
        ["int.Parse"] = static () => int.Parse("1 or {2}", CultureInfo.InvariantCulture),
        ["int.Parse of too much"] = static () => int.Parse("99999999999", CultureInfo.InvariantCulture),
        ["double.Parse"] = static () => double.Parse("x", CultureInfo.InvariantCulture),
        ["Guid.Parse"] = static () => Guid.Parse("x"),
        ["DateTime.Parse"] = static () => DateTime.Parse("x", CultureInfo.InvariantCulture),
        ["TimeSpan.Parse"] = static () => TimeSpan.Parse("x", CultureInfo.InvariantCulture),
        ["bool.Parse"] = static () => bool.Parse("perhaps"),
        ["Enum.Parse"] = static () => Enum.Parse<DayOfWeek>("Someday"),
        ["BigInteger.Parse"] = static () => BigInteger.Parse("x", CultureInfo.InvariantCulture),
        ["base 64"] = static () => Convert.FromBase64String("???"),
        ["base 64 of a span"] = static () => Base64Url.DecodeFromChars("?"),
        ["hexadecimal"] = static () => Convert.FromHexString("xyz"),
        ["conversion"] = static () => Convert.ChangeType("x", typeof(int), CultureInfo.InvariantCulture),
        ["conversion to another type"] = static () => Convert.ToDateTime(1.5, CultureInfo.InvariantCulture),
        ["format"] = static () => _ = string.Format(CultureInfo.InvariantCulture, Braces, 1),
        ["substring"] = static () => _ = "abc".Substring(1, 5),
        ["culture"] = static () => _ = new CultureInfo("no such culture, really"),
        ["bytes that are no text"] = static () => new UTF8Encoding(false, true).GetString([0xFF, 0x41]),
        ["encoding"] = static () => Encoding.GetEncoding("no-such"),
        ["null argument"] = static () => ArgumentNullException.ThrowIfNull(Nothing),
        ["empty argument"] = static () => ArgumentException.ThrowIfNullOrEmpty(""),
        ["argument out of range"] = static () => ArgumentOutOfRangeException.ThrowIfGreaterThan(Two, 1),
        ["argument that must be equal"] = static () => ArgumentOutOfRangeException.ThrowIfNotEqual(1.5, 2.5),
        ["date out of range"] = static () => _ = new DateTime(2026, 13, 1),
        ["disposed stream"] = static () => Disposed(new MemoryStream()).ReadByte(),
        ["disposed, by name"] = static () => ObjectDisposedException.ThrowIf(true, typeof(FrameworkExceptions)),
        ["cancelled"] = static () => new CancellationToken(true).ThrowIfCancellationRequested(),
        ["cancelled task"] = static () => Task.FromCanceled(new CancellationToken(true)).GetAwaiter().GetResult(),
        ["timeout"] = static () => throw new TimeoutException(),
        ["several"] = static () => Task.WaitAll(Task.FromException(new KeyNotFoundException())),
        ["not supported"] = static () => throw new NotSupportedException(),
        ["end of stream"] = static () => new BinaryReader(new MemoryStream()).ReadInt32(),
        ["read-only stream"] = static () => new MemoryStream([], writable: false).WriteByte(1),
        ["JSON"] = static () => JsonSerializer.Deserialize<int[]>("[1, x]"),
        ["JSON that ends early"] = static () => JsonDocument.Parse("{"),
        ["JSON of another type"] = static () => JsonSerializer.Deserialize<Dictionary<string, int>>("""{"a":"b"}"""),
        ["JSON property"] = static () => _ = JsonDocument.Parse("{}").RootElement.GetProperty("a"),
        ["JSON kind"] = static () => _ = JsonDocument.Parse("{}").RootElement.GetInt32(),
        ["XML"] = static () => XDocument.Parse("<a><b></a>"),
        ["XML conversion"] = static () => XmlConvert.ToInt32("x"),
        ["address"] = static () => _ = new Uri("not one"),
        ["IP address"] = static () => IPAddress.Parse("1.2.3.4.5"),
        ["pattern"] = static () => _ = new Regex("a(b"),
        ["key length"] = static () => { using var aes = Aes.Create(); aes.Key = new byte[3]; },
        ["file"] = static () => File.ReadAllText("/no/such/file"),
        ["directory"] = static () => Directory.GetFiles("/no/such/directory"),
        ["file where a directory is"] = static () => Directory.CreateDirectory("/dev/null/x"),
        ["directory that is not empty"] = static () => Directory.Delete("/proc", recursive: false),
        ["socket"] = Connect,
        ["socket error"] = static () => throw new SocketException((int)SocketError.HostNotFound),
        ["system error"] = static () => throw new System.ComponentModel.Win32Exception(2),
        ["request"] = static () => Request("http://127.0.0.1:1/"),
        ["request without address"] = static () => Request("/x"),
        ["response"] = static () => new HttpResponseMessage(HttpStatusCode.NotFound).EnsureSuccessStatusCode(),
    };

    private static object? Nothing => null;

    private static object Anything => 5;

    private static int Two => int.Parse("2", CultureInfo.InvariantCulture);

    private static string Braces => "{0";

    internal static Exception Caught(string name)
    {
        Exception? thrown = Record.Exception(All[name]);
        Assert.NotNull(thrown);
        return thrown;
    }

    private static void ModifyWhileEnumerating()
    {
        List<int> items = [1, 2];
        foreach (int item in items) items.Add(item);
    }

    private static MemoryStream Disposed(MemoryStream stream)
    {
        stream.Dispose();
        return stream;
    }

    private static void Request(string address)
    {
        using var client = new HttpClient();
        using var request = new HttpRequestMessage(HttpMethod.Get, address);
        client.Send(request);
    }

    private static void Connect()
    {
        using var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        socket.Connect(IPAddress.Loopback, 1);
    }

    private static class Uninitialized
    {
        internal static readonly int Value = int.Parse("x", CultureInfo.InvariantCulture);
    }
}
