using System.Net;
using CRA.Links;

namespace CRA.Tests;

public sealed class LinkAddressTests
{
    [Theory]
    [InlineData("127.0.0.1:0", "127.0.0.1:0")]
    [InlineData("127.3.2.1:4711", "127.3.2.1:4711")]
    [InlineData("[::1]:4711", "[::1]:4711")]
    [InlineData("localhost:4711", "127.0.0.1:4711")]
    public void ToListen_OnLoopback_IsTaken(string address, string end) =>
        Assert.Equal(end, LinkAddress.ToListen(address, mayLeaveTheMachine: false).ToString());

    [Fact]
    public void ToListen_OfAnyPlainAddress_IsWhatTheClassLibraryReadsAndWrites()
    {
        var random = new Random(7);
        for (int i = 0; i < 2_000; i++)
        {
            var end = new IPEndPoint(
                new IPAddress([(byte)random.Next(256), (byte)random.Next(256), (byte)random.Next(0, 3), (byte)random.Next(256)]),
                random.Next(65_536));
            Assert.Equal(end, LinkAddress.ToListen(end.ToString(), mayLeaveTheMachine: true));
            Assert.Equal(end.ToString(), LinkAddress.TextOf(end));
        }
        Assert.Equal("[::1]:4711", LinkAddress.TextOf(IPEndPoint.Parse("[::1]:4711")));
    }

    [Theory]
    [InlineData("127.0.0.010:1")] // octal, as ever
    [InlineData("127.0.0.1:080")]
    [InlineData("127.1:80")]
    [InlineData("0x7f.0.0.1:80")]
    public void ToListen_OfAnUnusualAddress_IsLeftToTheClassLibrary(string address) =>
        Assert.Equal(IPEndPoint.Parse(address), LinkAddress.ToListen(address, mayLeaveTheMachine: true));

    [Theory]
    [InlineData("127.0.0.256:1")]
    [InlineData("127.0.0.1:99999")]
    [InlineData("127.0.0.1:999999999999")]
    [InlineData("1.2.3.4.5:6")]
    [InlineData("1.2.3:4:5")]
    public void ToListen_OfNumbersTooLargeOrTooMany_IsRefused(string address) =>
        Assert.Throws<LinkAddressException>(() => LinkAddress.ToListen(address, mayLeaveTheMachine: true));

    [Theory]
    [InlineData("0.0.0.0:4711")]
    [InlineData("10.0.0.1:4711")]
    [InlineData("[::]:4711")]
    public void ToListen_ElsewhereWithoutInsecure_IsRefusedWithWhatWhyAndHow(string address)
    {
        string message = Assert.Throws<LinkAddressException>(() => LinkAddress.ToListen(address, mayLeaveTheMachine: false)).Message;
        Assert.Contains(address, message, StringComparison.Ordinal);
        Assert.Contains("not encrypted", message, StringComparison.Ordinal);
        Assert.Contains("--tls-cert", message, StringComparison.Ordinal);
        Assert.Contains("--insecure", message, StringComparison.Ordinal);
        Assert.Equal(address, LinkAddress.ToListen(address, mayLeaveTheMachine: true).ToString());
    }

    [Theory]
    [InlineData("")]
    [InlineData("127.0.0.1")]
    [InlineData("::1")]
    [InlineData("[::1]")]
    [InlineData("127.0.0.1:")]
    [InlineData("127.0.0.1:65536")]
    [InlineData("host.example:1")]
    [InlineData("127.0.0.1:1 ")]
    public void ToListen_OfAMalformedAddress_IsRefused(string address) =>
        Assert.Throws<LinkAddressException>(() => LinkAddress.ToListen(address, mayLeaveTheMachine: true));

    [Fact]
    public void ToDial_OfPortZero_IsRefused() =>
        Assert.Throws<LinkAddressException>(() => LinkAddress.ToDial("127.0.0.1:0", mayLeaveTheMachine: false));
}
