namespace CRA.Tests;

public sealed class LinkAddressTests
{
    [Theory]
    [InlineData("127.0.0.1:0", "127.0.0.1:0")]
    [InlineData("127.3.2.1:4711", "127.3.2.1:4711")]
    [InlineData("[::1]:4711", "[::1]:4711")]
    [InlineData("localhost:4711", "127.0.0.1:4711")]
    public void ToListen_OnLoopback_IsTaken(string address, string end) => Assert.Equal(end, LinkAddress.ToListen(address, mayLeaveTheMachine: false).ToString());

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
    public void ToListen_OfAMalformedAddress_IsRefused(string address) => Assert.Throws<LinkAddressException>(() => LinkAddress.ToListen(address, mayLeaveTheMachine: true));

    [Fact]
    public void ToDial_OfPortZero_IsRefused() => Assert.Throws<LinkAddressException>(() => LinkAddress.ToDial("127.0.0.1:0", mayLeaveTheMachine: false));
}
