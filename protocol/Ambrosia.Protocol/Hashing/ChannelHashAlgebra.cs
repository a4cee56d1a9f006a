namespace Ambrosia.Protocol;

/// <summary>Polynomials modulo that of CRC-64/NVME, reflected: bit i of a word stands for x^(63-i).</summary>
internal static class ChannelHashAlgebra
{
    public const ulong ReflectedPolynomial = 0x9A6C9329AC4BC9B5;

    private const ulong One = 1ul << 63, X = 1ul << 62;

    public static ulong Multiply(ulong a, ulong b)
    {
        ulong product = 0;
        for (; a != 0; a <<= 1, b = TimesX(b))
            if ((a & One) != 0) product ^= b;
        return product;
    }

    public static ulong TimesX(ulong a) => (a >> 1) ^ ((a & 1) * ReflectedPolynomial);

    public static ulong PowerOfX(ulong exponent)
    {
        ulong power = One;
        for (ulong square = X; exponent != 0; exponent >>= 1, square = Multiply(square, square))
            if ((exponent & 1) != 0) power = Multiply(power, square);
        return power;
    }
}
