var R,xn,zt,Ae,Ht,_t,Cn,gt,Tn,Wt,jt,Ur,Qe=Symbol.for("pv"),yt={},bt=[],qr=/^m(i|n|o|s|text|space)$/,Zt=Array.isArray,Jt=bt.slice,Re=Object.assign;function Be(e){
e&&e.parentNode&&e.remove()}function Sn(e,n,r){var o,s,a,i={},l=arguments.length;for(a in n)a=="key"?o=n[a]:a=="ref"&&typeof e!="function"?s=n[a]:i[a]=n[a];return l>
2&&(i.children=l>3?Jt.call(arguments,2):r),Ye(e,i,o,s,null)}function Ye(e,n,r,o,s){var a={type:e,props:n,key:r,ref:o,__k:null,__:null,__b:0,__e:null,__c:null,constructor:Qe,__v:s||++xn,__i:-1,__u:0};return!s&&R.vnode&&R.
vnode(a),a}function b(e){return e.children}function je(e,n){this.props=e,this.context=n,this.__g=0}function Pe(e,n){if(n==null)return e.__&&Pe(e.__,e.__i+1);for(var r;n<e.
__k.length;n++)if((r=e.__k[n])&&r.__e)return r.__e;return typeof e.type!="function"||e.props.__P?null:Pe(e)}function Hr(e){var n,r=e.__v,o=r.__e,s=[],a=[],i=e.__P;
i&&((n=Re({constructor:Qe},r)).__v=r.__v+1,R.vnode&&R.vnode(n),Kt(i,n,r,e.__n,i.namespaceURI,32&r.__u?[o]:null,s,o||Pe(r),32&r.__u,a),n.__v=r.__v,n.__.__k[n.__i]=
n,Bn(s,n,a),r.__=r.__e=null,n.__e!=o&&$n(n))}function $n(e){if((e=e.__)&&e.__c&&!e.props.__P)return e.__e=null,e.__k.some(function(n){return n&&(e.__e=n.__e)}),
$n(e)}function kn(e){(8&e.__g||(e.__g|=8,Ae.push(e),_t++))&&Ht==R.debounceRendering||((Ht=R.debounceRendering)||queueMicrotask)(An)}function An(){try{for(var e,
n=1;Ae.length;)Ae.length>n&&Ae.sort(Cn),e=Ae.shift(),n=Ae.length,8&e.__g&&Hr(e)}finally{(_t=Ae.length)&&(Ht||queueMicrotask)(An)}}function Pn(e,n,r,o,s,a,i,l,c,u,d){
var p,f,m,g,x,y,C=o.__k||bt,v=n.length;for(c=jr(r,n,C,c,v),p=0;p<v;p++)(m=r.__k[p])!=null&&(f=~m.__i&&C[m.__i]||yt,m.__i=p,y=Kt(e,m,f,s,a,i,l,c,u,d),g=m.__e,(f.
ref!=m.ref||8&f.__u)&&(f.ref&&Vt(f.ref,null,m,f),m.ref&&d.push(m.ref,m.__c||g,m)),x=x||g,4&m.__u?(c=En(m,c,e,!f.__v),f.__e&&(f.__e=null)):typeof m.type=="functi\
on"&&y!==void 0?c=y:g&&(c=g.nextSibling),m.__u&=-21);return r.__e=x,c}function jr(e,n,r,o,s){var a,i,l,c,u,d,p,f,m,g=r.length,x=g,y=0,C=0,v=e.__k=Array(s);for(a=
0;a<s;a++)(i=n[a])!=null&&typeof i!="boolean"&&typeof i!="function"?(typeof i!="object"||i.constructor===String?i=v[a]=Ye(null,i):Zt(i)?i=v[a]=Ye(b,{children:i}):
i.constructor===Qe&&i.__b?i=v[a]=Ye(i.type,i.props,i.key,i.ref,i.__v):v[a]=i,c=a+y,i.__=e,i.__b=e.__b+1,l=null,~(u=i.__i=zr(i,r,c,x))&&(x--,(l=r[u])&&(l.__u|=2)),
l&&l.__v?(i.__u|=16,u==c-1?y--:u==c+1?y++:u!=c&&(u>c?y--:y++,C=1)):(~u||(s>g?y--:s<g&&y++),typeof i.type!="function"&&(i.__u|=4))):v[a]=null;if(C){for(d=[],p=[],
a=0;a<s;a++)if((i=v[a])&&16&i.__u){for(y=0,f=d.length;y<f;)d[m=y+f>>1]<i.__i?y=m+1:f=m;d[y]=i.__i,p[a]=y+1}for(y=d.length;a--;)p[a]&&(p[a]==y?y--:v[a].__u|=4)}if(x)
for(a=0;a<g;a++)!(l=r[a])||2&l.__u||(l.__e==o&&(o=Pe(l)),Gt(l,l));return o}function En(e,n,r,o){var s,a,i,l;if(typeof e.type=="function"){if(e.props.__P)return n;
if(s=e.__k)for(a=0;a<s.length;a++)s[a]&&(s[a].__=e,n=En(s[a],n,r,!1));return n}for(n&&!n.parentNode&&(n=Pe(e))&&!n.parentNode&&(n=null),i=e.__e,l=n;l&&l.nodeType==
8;)l=l.nextSibling;for(i!=l&&(!o&&r.moveBefore&&i.parentNode?r.moveBefore(i,n):r.insertBefore(i,n||null)),n=i;(n=n&&n.nextSibling)&&n.nodeType==8&&!n.data.startsWith(
"$s"););return n}function zr(e,n,r,o){var s,a=e.key,i=e.type,l=n[r],c=l&&!(2&l.__u);if(l===null&&a==null||c&&a==l.key&&i==l.type)return r;if(o>(c?1:0)){for(s=r-1;s>=0;s--)if((l=
n[s])&&!(2&l.__u)&&a==l.key&&i==l.type)return s;for(s=r+1;s<n.length;s++)if((l=n[s])&&!(2&l.__u)&&a==l.key&&i==l.type)return s}return-1}function wn(e,n,r){r==null&&
(r=""),n[0]=="-"?e.setProperty(n,r):e[n]=r}function ht(e,n,r,o,s){var a,i;if(n=="style")if(typeof r=="string")e.style.cssText=r;else{if(typeof o=="string"&&(e.style.
cssText=o=""),o)for(n in o)r&&n in r||wn(e.style,n);if(r)for(n in r)o&&r[n]==o[n]||wn(e.style,n,r[n])}else if(n[0]=="o"&&n[1]=="n")typeof r!="function"&&(r=null),
typeof o!="function"&&(o=null),(e.__e||(e.__e={}))[n]=r,r&&o||(i=jt[n]||(jt[n]=Wr(n)),(e.__a||(e.__a={}))[n]=Wt,a=n!=(n=n.replace(Tn,"$1")),(n=n.slice(2))[0]<"a"&&
(n=n.toLowerCase()),r?e.addEventListener(n,i,a):e.removeEventListener(n,i,a));else{if(s=="http://www.w3.org/2000/svg")n=n.replace(/xlink(H|:h)/,"h").replace(/sName$/,
"s");else if(n!="width"&&n!="height"&&n!="href"&&n!="list"&&n!="form"&&n!="tabIndex"&&n!="download"&&n!="rowSpan"&&n!="colSpan"&&n!="role"&&n!="popover"&&n in e)
try{return void(e[n]=r??"")}catch{}if(typeof r=="function")return;r==null||r===!1&&n[4]!="-"?e.removeAttribute(n):e.setAttribute(n,n=="popover"&&r==1?"":r)}}function Wr(e){
return function(n){var r=this.__e;if(r){if(r=r[e],n[gt]==null)n[gt]=Wt++;else if(n[gt]<this.__a[e])return;return r(R.event?R.event(n):n)}}}function Kt(e,n,r,o,s,a,i,l,c,u){
var d,p,f,m,g,x,y,C,v,_,T,L,F,pe,Q,S,k,W,O=n.type;if(n.constructor!==Qe)return null;128&r.__u&&(c=32&r.__u,d=r.__c.__z)&&(n.__u|=c,p=a=[],d.nodeType==8?l=vt(d,a):
a.push(d),l=a[0]||l),(d=R.__b)&&d(n);e:if(typeof O=="function"){f=i.length;try{if(C=n.props,v=(d=O.prototype)&&d.render,_=(d=O.contextType)&&o[d.__c],T=d?_?_.props.
value:d.__:o,(m=r.__c)?(n.__c=m,2&m.__g&&(m.__g|=1)):(v?n.__c=m=new O(C,T):(n.__c=m=new je(C,T),m.constructor=O,m.render=Jr),_&&_.sub(m),m.state||(m.state={}),m.
__n=o,m.__g|=8,m.__h=[],m.__k=[]),v&&(m.__s||(m.__s=m.state),O.getDerivedStateFromProps&&(m.__s==m.state&&(m.__s=Re({},m.__s)),Re(m.__s,O.getDerivedStateFromProps(
C,m.__s)))),g=m.props,x=m.state,m.__v=n,r.__c){if(C!==g&&v&&!O.getDerivedStateFromProps&&m.componentWillReceiveProps&&m.componentWillReceiveProps(C,T),n.__v==r.
__v&&!(8&m.__g)||!(4&m.__g)&&m.shouldComponentUpdate&&m.shouldComponentUpdate(C,m.__s,T)===!1){n.__v!=r.__v&&(m.props=C,m.state=m.__s,m.__g&=-9),n.__e=r.__e,n.__k=
r.__k,n.__k.some(function(Z){Z&&(Z.__=n)}),bt.push.apply(m.__h,m.__k),m.__k=[],m.__h.length&&i.push(m),l=Pe(r);break e}m.componentWillUpdate&&m.componentWillUpdate(
C,m.__s,T),v&&m.componentDidUpdate&&m.__h.push(function(){m.componentDidUpdate(g,x,y)})}else v&&!O.getDerivedStateFromProps&&m.componentWillMount&&m.componentWillMount(),
v&&m.componentDidMount&&m.__h.push(m.componentDidMount);m.context=T,m.props=C,m.__P=e,m.__g&=-5,L=R.__r,F=v?25:0;do m.__g&=-9,L&&L(n),d=m.render(m.props,m.state=
m.__s,m.context);while(8&m.__g&&++F<25);v&&(bt.push.apply(m.__h,m.__k),m.__k=[]),m.state=m.__s,m.getChildContext&&(o=Re({},o,m.getChildContext())),v&&r.__c&&m.getSnapshotBeforeUpdate&&
(y=m.getSnapshotBeforeUpdate(g,x)),pe=d&&d.type===b&&d.key==null?d.props.children:d,C.__P&&(d=l,s=(e=C.__P).namespaceURI,c=a=null,r.props&&r.props.__P!=e&&(r.__k.
some(function(Z){Z&&Gt(Z,Z)}),r.__k=null),l=r.__k?Pe(r,0):null),l=Pn(e,Zt(pe)?pe:[pe],n,r,o,s,a,i,l,c,u),C.__P&&(n.__e=null,l=d),n.__u&=-161,p&&p.some(Be),m.__h.
length&&i.push(m),1&m.__g&&(m.__g&=-4)}catch(Z){if(i.length=f,n.__v=null,c||a)if(Z&&Z.then){if(n.__u|=128|c,a){for(~(k=a.indexOf(l||void 0))||(k=a.length);(W=a[k-
1])&&W.nodeType==8;)k--;for(;k<a.length;k++)if(W=a[k])if(a[k]=null,Q){if(W==S)break}else{if(W.nodeType!=8)break;W.data.startsWith("$s")&&(S=vt(Q=W))}}if(!Q){for(;l&&
l.nodeType==8&&l.nextSibling;)l=l.nextSibling;Q=l}(d=vt(Q=n.__c.__z||(n.__c.__z=Q)))?(n.__e=Q,l=d):n.__e=l,l=l&&l.nextSibling}else a&&a.some(Be);else n.__e=r.__e;
n.__k||(n.__k=r.__k||[]),Z&&Z.then||Nn(n),R.__e(Z,n,r)}}else l=n.__e=Zr(r.__e,n,r,o,s,a,i,c,u,e);return(d=R.diffed)&&d(n),l}function vt(e,n){if(e&&e.nodeType==8&&
e.data.startsWith("$s"))for(var r=1;e=e.nextSibling;){if(e.nodeType==8){if(e.data.startsWith("$s"))r++;else if(e.data.startsWith("/$s")&&!--r)return e}n&&n.push(
e)}}function Nn(e){e&&(e.__c&&(e.__c.__g|=4),e.__k&&e.__k.some(Nn))}function Bn(e,n,r){for(var o=0;o<r.length;)Vt(r[o++],r[o++],r[o++]);R.__c&&R.__c(n,e),e.some(
function(s){try{e=s.__h,s.__h=[],e.some(function(a){a.call(s)})}catch(a){R.__e(a,s.__v)}})}function Zr(e,n,r,o,s,a,i,l,c,u){var d,p,f,m,g,x,y,C,v=r.props||yt,_=n.
props,T=n.type;if(T=="svg"?s="http://www.w3.org/2000/svg":T=="math"?s="http://www.w3.org/1998/Math/MathML":s||(s="http://www.w3.org/1999/xhtml"),a){for(d=0;d<a.
length;d++)if((g=a[d])&&(T?g.localName==T:g.nodeType==3)){e=g,a[d]=null;break}}if(!e){if(C=u.ownerDocument||document,!T)return C.createTextNode(_);e=C.createElementNS(
s,T,_.is?_:u),l&&(R.__m&&R.__m(n,a),l=!1),a=null}if(T){if(u=T=="template"&&e.content||e,a=T=="textarea"&&_.defaultValue!=null?null:a&&Jt.call(u.childNodes),!l&&
a)for(v={},d=0;d<e.attributes.length;d++)v[(g=e.attributes[d]).name]=g.value;for(d in v)g=v[d],d=="dangerouslySetInnerHTML"?f=g:d=="children"||d in _||d=="value"&&
"defaultValue"in _||d=="checked"&&"defaultChecked"in _||ht(e,d,null,g,s);for(d in _)g=_[d],d=="children"?m=g:d=="dangerouslySetInnerHTML"?p=g:d=="value"?x=g:d==
"checked"?y=g:l&&typeof g!="function"||v[d]===g||ht(e,d,g,v[d],s);p?(l||f&&(p.__html==f.__html||p.__html==e.innerHTML)||(e.innerHTML=p.__html),n.__k=[]):(f&&(e.
textContent=""),(T=="foreignObject"||s=="http://www.w3.org/1998/Math/MathML"&&qr.test(T))&&(s="http://www.w3.org/1999/xhtml"),Pn(u,Zt(m)?m:[m],n,r,o,s,a,i,a?a[0]:
r.__k&&Pe(r,0),l,c),a&&a.some(Be)),l&&T!="textarea"||(d="value",T=="progress"&&x==null?e.removeAttribute(d):x==null||x===e[d]&&(T!="progress"||x)||ht(e,d,x,v[d],
s),d="checked",y!=null&&y!=e[d]&&ht(e,d,y,v[d],s))}else v===_||l&&e.data==_||(e.data=_);return e}function Vt(e,n,r,o){try{typeof e=="function"?n?n.__x=e(n)||1:o&&
(o=o.__c||o.__e)&&(n=o.__x)&&(o.__x=null,typeof n=="function"?n():e(null)):e.current=n}catch(s){R.__e(s,r)}}function Gt(e,n,r){var o,s,a,i;if(R.unmount&&R.unmount(
e),!(o=e.ref)||o.current&&o.current!=e.__e||Vt(o,null,n,e),o=e.__c){if(o.componentWillUnmount)try{o.componentWillUnmount()}catch(l){R.__e(l,n)}o.__P=o.__n=null}
if(o=e.__k)for(i=0;i<o.length;i++)o[i]&&Gt(o[i],n,typeof e.type!="function"||r&&!e.props.__P);!r&&(o=e.__c)&&(o=o.__z)&&(s=vt(o,a=[]))&&(o==e.__e&&a.some(Be),Be(
s),Be(o)),r||Be(e.__e),e.__e=e.__c=e.__=null}function Jr(e,n,r){return this.constructor(e,r)}function Rn(e,n){var r,o,s,a;R.__&&R.__(e,n),n.nodeType==9&&(n=n.documentElement),
o=(r=e&&32&e.__u)?null:n.__k,n.__k=Ye(b,{children:[e]}),s=[],a=[],Kt(n,n.__k,o||yt,yt,n.namespaceURI,o?null:n.firstChild?Jt.call(n.childNodes):null,s,o?o.__e:n.
firstChild,r,a),Bn(s,n.__k,a),n.__k.props.children=null}R={__e:function(e,n,r,o){for(var s,a,i;n=n.__;)if((s=n.__c)&&!(1&s.__g)){s.__g|=4;try{if((i=(a=s.constructor)&&a.getDerivedStateFromError)&&s.setState(a.getDerivedStateFromError(
e)),s.componentDidCatch&&(s.componentDidCatch(e,o||{}),i=1),i&&8&s.__g)return void(s.__g|=2)}catch(l){e=l}}throw _t=0,e}},xn=0,zt=function(e){return e!=null&&e.
constructor===Qe},je.prototype.setState=function(e,n){var r=this.__s;r&&r!=this.state||(r=this.__s=Re({},this.state)),typeof e=="function"&&(e=e(Re({},r),this.props)),
e&&(Re(r,e),this.__v&&(n&&this.__k.push(n),kn(this)))},je.prototype.forceUpdate=function(e){this.__v&&(this.__g|=4,e&&this.__h.push(e),kn(this))},je.prototype.render=
b,Ae=[],_t=0,Cn=function(e,n){return e.__v.__b-n.__v.__b},gt=Symbol(),Tn=/(PointerCapture)$|Capture$/i,Wt=0,jt={},Ur=0;var De,K,Xt,Dn,Yt=Object.is,kt=0,jn=[],Qt=[],J=R,On=J.__b,Ln=J.__r,Fn=J.diffed,In=J.__c,Mn=J.unmount,Un=J.__;function tt(e,n){J.__h&&J.__h(K,e,kt||n),kt=0;var r=K.
__H||(K.__H={__:[],__h:[]});return e>=r.__.length&&r.__.push({}),r.__[e]}function h(e){return kt=1,Kr(zn,e)}function Kr(e,n,r){var o=tt(De++,2);if(o.t=e,!o.__c&&
(o.__=[r?r(n):zn(void 0,n),function(a){var i=(o.__N||o.__)[0],l=o.t(i,a);Yt(i,l)||(o.__N=[l,o.__[1]],o.__c.setState({}))}],o.__c=K,!K.__f)){K.__f=!0;var s=K.shouldComponentUpdate;
K.shouldComponentUpdate=function(a,i,l){var c=this.__H;if(!c)return!0;var u=!1,d=this.props!=a;if(c.__.some(function(f){f.__N&&(u=!0,Yt(f.__[0],f.__N[0])||(d=!0))}),
s){var p=s.call(this,a,i,l);return u?p||d:p}return!u||d}}return o.__}function X(e,n){var r=tt(De++,3);!J.__s&&tn(r.__H,n)&&(r.__P=!0,r.__=e,r.u=n,K.__H.__h.push(
r))}function wt(e,n){var r=tt(De++,4);!J.__s&&tn(r.__H,n)&&(r.__P=!1,r.__=e,r.u=n,K.__h.push(r))}function le(e){return kt=5,xt(function(){return{current:e}},[])}function xt(e,n){var r=tt(De++,7);return tn(r.__H,n)&&(r.__=e(),r.__H=n),r.__}function nt(){var e=tt(De++,11);if(!e.__){for(var n=K.__v;!n.__m&&n.__;)n=n.__;var r=n.__m||(n.__m=[0,0]);e.__="P"+r[0]+"-"+r[1]++}return e.__}function Vr(){var e;
do{for(;e=Qt.shift();)try{et(e)}catch(r){J.__e(r,{__:(e=e.__P)&&e.__v})}for(;e=jn.shift();){var n=e.__H;if(e.__P&&n)try{n.__h.some(et),n.__h.some(en),n.__h=[]}catch(r){
n.__h=[],J.__e(r,e.__v)}}}while(Qt.length)}J.__b=function(e){K=null,On&&On(e)},J.__=function(e,n){e&&n.__k&&n.__k.__m&&(e.__m=n.__k.__m),Un&&Un(e,n)},J.__r=function(e){
Ln&&Ln(e),De=0;var n=(K=e.__c).__H;n&&(Xt==K?K.__h=[]:(n.__h.some(et),n.__h.some(en),De=0),n.__h=[],n.__.some(function(r){r.__N&&(r.__=r.__N),r.u=r.__N=void 0})),
Xt=K},J.diffed=function(e){Fn&&Fn(e);var n=e.__c;n&&n.__H&&(n.__H.__h.length&&Hn(jn.push(n)),n.__H.__.some(function(r){r.u&&(r.__H=r.u)})),Xt=K=null},J.__c=function(e,n){
n.some(function(r){try{r.__h.some(et),r.__h=r.__h.filter(function(o){return!o.__||en(o)})}catch(o){r.__h=[function(){throw o}]}}),In&&In(e,n)},J.unmount=function(e){
Mn&&Mn(e);var n,r,o=e.__c;o&&o.__H&&(o.__H.__.some(function(s){try{if(s.__P&&s.__c){if(r===void 0){for(r=e.__;r&&(!r.__c||!r.__c.__P);)r=r.__;r=r&&r.__c}s.__P=r,
Hn(Qt.push(s))}else et(s)}catch(a){n=a}}),o.__H=void 0,n&&J.__e(n,o.__v))};var qn=typeof requestAnimationFrame=="function";function Gr(e){var n,r=function(){clearTimeout(
o),qn&&cancelAnimationFrame(n),setTimeout(e)},o=setTimeout(r,35);qn&&(n=requestAnimationFrame(r))}function Hn(e){e!=1&&Dn==J.requestAnimationFrame||((Dn=J.requestAnimationFrame)||
Gr)(Vr)}function et(e){var n=K,r=e.__c;typeof r=="function"&&(e.__c=void 0,r()),K=n}function en(e){var n=K;e.__c=e.__(),K=n}function tn(e,n){return!e||e.length!=
n.length||n.some(function(r,o){return!Yt(r,e[o])})}function zn(e,n){return typeof n=="function"?n(e):n}var Xr=Symbol.for("preact-signals");function $t(){if(we>1)we--;else{var e,n=!1;for((function(){var s=Tt;for(Tt=void 0;s!==void 0;){var a=s.S;if(a.v===s.v)for(var i=a.
t;i!==void 0;i=i.x)i.i===s.i&&(i.i=a.i);s=s.o}})();at!==void 0;){var r=at;for(at=void 0,Ct++;r!==void 0;){var o=r.u;if(r.u=void 0,r.f&=-3,!(8&r.f)&&Zn(r))try{r.
c()}catch(s){n||(e=s,n=!0)}r=o}}if(Ct=0,we--,n)throw e}}function rn(e){if(we>0)return e();nn=++Yr,we++;try{return e()}finally{$t()}}var rt,H=void 0;function st(e){
var n=H,r=rt;H=void 0,rt=void 0;try{return e()}finally{H=n,rt=r}}var at=void 0,we=0,Ct=0,Yr=0,nn=0,Tt=void 0,St=0;function Wn(e){if(H!==void 0){var n=e.n;if(n===
void 0||n.t!==H)return n={i:0,S:e,p:H.s,n:void 0,t:H,e:void 0,x:void 0,r:n},H.s!==void 0&&(H.s.n=n),H.s=n,e.n=n,32&H.f&&e.S(n),n;if(n.i===-1)return n.i=0,n.n!==
void 0&&(n.n.p=n.p,n.p!==void 0&&(n.p.n=n.n),n.p=H.s,n.n=void 0,H.s.n=n,H.s=n),n}}function Y(e,n){this.v=e,this.i=0,this.n=void 0,this.t=void 0,this.l=0,this.W=
n?.watched,this.Z=n?.unwatched,this.name=n?.name}Y.prototype.brand=Xr;Y.prototype.h=function(){return!0};Y.prototype.S=function(e){var n=this,r=this.t;r!==e&&e.
e===void 0&&(e.x=r,this.t=e,r!==void 0?r.e=e:st(function(){var o;(o=n.W)==null||o.call(n)}))};Y.prototype.U=function(e){var n=this;if(this.t!==void 0){var r=e.e,
o=e.x;r!==void 0&&(r.x=o,e.e=void 0),o!==void 0&&(o.e=r,e.x=void 0),e===this.t&&(this.t=o,o===void 0&&st(function(){var s;(s=n.Z)==null||s.call(n)}))}};Y.prototype.
subscribe=function(e){var n=this;return _e(function(){var r=n.value;st(function(){return e(r)})},{name:"sub"})};Y.prototype.valueOf=function(){return this.value};
Y.prototype.toString=function(){return this.value+""};Y.prototype.toJSON=function(){return this.value};Y.prototype.peek=function(){var e=this;return st(function(){
return e.value})};Object.defineProperty(Y.prototype,"value",{get:function(){var e=Wn(this);return e!==void 0&&(e.i=this.i),this.v},set:function(e){if(e!==this.v){
if(Ct>100)throw new Error("Cycle detected");(function(r){we!==0&&Ct===0&&r.l!==nn&&(r.l=nn,Tt={S:r,v:r.v,i:r.i,o:Tt})})(this),this.v=e,this.i++,St++,we++;try{for(var n=this.
t;n!==void 0;n=n.x)n.t.N()}finally{$t()}}}});function se(e,n){return new Y(e,n)}function Zn(e){for(var n=e.s;n!==void 0;n=n.n)if(n.S.i!==n.i||!n.S.h()||n.S.i!==
n.i)return!0;return!1}function Jn(e){for(var n=e.s;n!==void 0;n=n.n){var r=n.S.n;if(r!==void 0&&(n.r=r),n.S.n=n,n.i=-1,n.n===void 0){e.s=n;break}}}function Kn(e){
for(var n=e.s,r=void 0;n!==void 0;){var o=n.p;n.i===-1?(n.S.U(n),o!==void 0&&(o.n=n.n),n.n!==void 0&&(n.n.p=o)):r=n,n.S.n=n.r,n.r!==void 0&&(n.r=void 0),n=o}e.s=
r}function Oe(e,n){Y.call(this,void 0,n),this.x=e,this.s=void 0,this.g=St-1,this.f=4}Oe.prototype=new Y;Oe.prototype.h=function(){if(this.f&=-3,1&this.f)return!1;
if((36&this.f)==32||(this.f&=-5,this.g===St))return!0;if(this.g=St,this.f|=1,this.i>0&&!Zn(this))return this.f&=-2,!0;var e=H;try{Jn(this),H=this;var n=this.x();
(16&this.f||this.v!==n||this.i===0)&&(this.v=n,this.f&=-17,this.i++)}catch(r){this.v=r,this.f|=16,this.i++}return H=e,Kn(this),this.f&=-2,!0};Oe.prototype.S=function(e){
if(this.t===void 0){this.f|=36;for(var n=this.s;n!==void 0;n=n.n)n.S.S(n)}Y.prototype.S.call(this,e)};Oe.prototype.U=function(e){if(this.t!==void 0&&(Y.prototype.
U.call(this,e),this.t===void 0)){this.f&=-33;for(var n=this.s;n!==void 0;n=n.n)n.S.U(n)}};Oe.prototype.N=function(){if(!(2&this.f)){this.f|=6;for(var e=this.t;e!==
void 0;e=e.x)e.t.N()}};Object.defineProperty(Oe.prototype,"value",{get:function(){if(1&this.f)throw new Error("Cycle detected");var e=Wn(this);if(this.h(),e!==void 0&&
(e.i=this.i),16&this.f)throw this.v;return this.v}});function Le(e,n){return new Oe(e,n)}function Vn(e){var n=e.j;if(e.j=void 0,typeof n=="function"){we++;var r=H;
H=void 0;try{n()}catch(o){throw e.f&=-2,e.f|=8,an(e),o}finally{H=r,$t()}}}function an(e){for(var n=e.s;n!==void 0;n=n.n)n.S.U(n);e.x=void 0,e.s=void 0,Vn(e)}function Qr(e){
if(H!==this)throw new Error("Out-of-order effect");Kn(this),H=e,this.f&=-2;try{8&this.f&&an(this)}finally{$t()}}function ze(e,n){this.x=e,this.j=void 0,this.s=void 0,
this.u=void 0,this.f=32,this.name=n?.name,rt&&rt.push(this)}ze.prototype.c=function(){var e=this.S();try{if(8&this.f||this.x===void 0)return;var n=this.x();typeof n==
"function"&&(this.j=n)}finally{e()}};ze.prototype.S=function(){if(1&this.f)throw new Error("Cycle detected");this.f|=1,this.f&=-9,Vn(this),Jn(this),we++;var e=H;
return H=this,Qr.bind(this,e)};ze.prototype.N=function(){2&this.f||(this.f|=2,this.u=at,at=this)};ze.prototype.d=function(){this.f|=8,1&this.f||an(this)};ze.prototype.
dispose=function(){this.d()};function _e(e,n){var r=new ze(e,n);try{r.c()}catch(s){throw r.d(),s}var o=r.d.bind(r);return o[Symbol.dispose]=o,o}var Gn,Pt,At,ea=typeof window<"u"&&!!window.__PREACT_SIGNALS_DEVTOOLS__;var Xn=[];_e(function(){Gn=this.N})();function We(e,n){R[e]=n.bind(null,R[e]||function(){})}function ot(e){if(At){var n=At;At=void 0,n()}At=e&&e.S()}function Yn(e){
var n=this,r=e.data,o=na(r);o.name="ReactiveDom",o.value=r;var s=xt(function(){for(var l=n,c=n.__v;c=c.__;)if(c.__c){c.__c.__$f|=4;break}var u=Le(function(){var m=o.
value.value;return m===0?0:m===!0?"":m||""}),d=Le(function(){return!Array.isArray(u.value)&&!zt(u.value)}),p=_e(function(){if(this.N=Qn,d.value){var m=u.value;l.
__v&&l.__v.__e&&l.__v.__e.nodeType===3&&(l.__v.__e.data=m)}}),f=n.__$u.d;return n.__$u.d=function(){p(),f.call(this)},[d,u]},[]),a=s[0],i=s[1];return a.value?i.
peek():i.value}Yn.displayName="ReactiveTextNode";Object.defineProperties(Y.prototype,{constructor:{configurable:!0,value:Sn(b,null).constructor},type:{configurable:!0,
value:Yn},props:{configurable:!0,get:function(){var e=this;return{data:{get value(){return e.value}}}}},__b:{configurable:!0,value:1}});We("__b",function(e,n){if(ot(),
Pt=void 0,typeof n.type=="string"){var r,o=n.props;for(var s in o)if(s!=="children"){var a=o[s];a instanceof Y&&(r||(n.__np=r={}),r[s]=a,o[s]=a.peek())}}e(n)});
We("__r",function(e,n){if(e(n),n.type!==b){ot();var r,o=n.__c;o&&(o.__$f&=-2,(r=o.__$u)===void 0&&(o.__$u=r=(function(s,a){var i;return _e(function(){i=this},{name:a}),
i.c=s,i})((function(s){return function(){var a;ea&&((a=this.y)==null||a.call(this)),s.__$f|=1,s.setState({})}})(o),typeof n.type=="function"?n.type.displayName||
n.type.name:""))),Pt=o,ot(r)}});We("__e",function(e,n,r,o){ot(),Pt=void 0,e(n,r,o)});We("diffed",function(e,n){ot(),Pt=void 0;var r;if(typeof n.type=="string"&&
(r=n.__e)){var o=n.__np,s=n.props,a=r.U;if(a)for(var i in a){var l=a[i];l===void 0||o&&i in o||(l.d(),a[i]=void 0)}if(o){a||(a={},r.U=a);for(var c in o){var u=a[c],
d=o[c];u===void 0?(u=ta(r,c,d,s),a[c]=u):u.o(d,s)}}}e(n)});function ta(e,n,r,o){var s=n in e&&e.ownerSVGElement===void 0,a=se(r);return{o:function(i,l){a.value=
i,o=l},d:_e(function(){this.N=Qn;var i=a.value.value;o[n]!==i&&(o[n]=i,s?e[n]=i:i!=null&&(i!==!1||n[4]==="-")?e.setAttribute(n,i):e.removeAttribute(n))})}}We("u\
nmount",function(e,n){if(typeof n.type=="string"){var r=n.__e;if(r){var o=r.U;if(o){r.U=void 0;for(var s in o){var a=o[s];a&&a.d()}}}var i=n.__np;if(i){var l=n.
props;for(var c in i)l[c]=i[c]}n.__np=void 0}else{var u=n.__c;if(u){u.__$f|=8;var d=u.__$u;d&&(u.__$u=void 0,d.d())}}e(n)});We("__h",function(e,n,r,o){o<3&&(n.__$f|=
2),e(n,r,o)});je.prototype.shouldComponentUpdate=function(e,n){if(this.__R)return!0;var r=this.__$u,o=r&&r.s!==void 0;for(var s in n)return!0;if(this.__f||typeof this.
u=="boolean"&&this.u===!0){var a=2&this.__$f;if(!(o||a||4&this.__$f)||1&this.__$f)return!0}else if(!(o||4&this.__$f)||3&this.__$f)return!0;for(var i in e)if(i!==
"__source"&&e[i]!==this.props[i])return!0;for(var l in this.props)if(!(l in e))return!0;return!1};function na(e,n){return xt(function(){return se(e,n)},[])}var ra=function(e){queueMicrotask(function(){queueMicrotask(e)})};function aa(){rn(function(){for(var e;e=Xn.shift();)Gn.call(e)})}function Qn(){Xn.push(this)===1&&(R.requestAnimationFrame||ra)(aa)}var er=new URL("../",document.baseURI),sn=document.querySelector('meta[name="timerbus"]'),ye={version:sn?.content??"",readOnly:sn?.dataset.readOnly==="true",hidePayloads:sn?.
dataset.hidePayloads==="true"},I=class extends Error{constructor(r,o,s,a={},i=0){super(s);this.status=r;this.code=o;this.details=a;this.retryAfter=i}status;code;details;retryAfter},
on="timerbus-token",xe=se(sessionStorage.getItem(on)??""),Ce=se(null),it=se(null);function Et(e){xe.value=e,e?sessionStorage.setItem(on,e):sessionStorage.removeItem(
on)}var Nt=se(0);async function ln(e,n){let r=new Headers(n.headers);xe.value&&r.set("Authorization",`Bearer ${xe.value}`);let o;try{o=await fetch(new URL(e,er),
{...n,headers:r,cache:"no-store"})}catch(a){throw n.signal?.aborted?a:new I(0,"UNREACHABLE","The service cannot be reached: it may be stopped, or the network is\
 down.")}let s=Date.parse(o.headers.get("Date")??"");if(!Number.isNaN(s)){let a=s+500-Date.now();Nt.value=Math.abs(a)>2e3?a:0}return o}async function tr(e){let n=Number(
e.headers.get("Retry-After")??0)||0;try{let r=await e.json();return new I(e.status,r.error,r.message,r.details,n)}catch{return new I(e.status,"HTTP_"+e.status,`\
The server answered ${e.status} ${e.statusText}.`,{},n)}}function lt(e){let{rawJSON:n}=JSON;return n?JSON.parse(e,(o,s,a)=>typeof s=="number"&&a?.source!==void 0&&
a.source.length>15?n(a.source):s):JSON.parse(e)}async function Te(e,n,r){let o=await ln("api/v1/"+e,{method:"POST",body:JSON.stringify(n),headers:{"Content-Type":"\
application/json"},signal:r??null});if(!o.ok){let a=await tr(o);throw a.status===401&&(it.value=a.message),a}let s=await o.text();return{data:s?lt(s):void 0,late:o.
status===202}}async function B(e,n,r){return(await Te(e,n,r)).data}async function nr(){return await(await ln("readyz",{})).json()}async function Bt(){let e=await ln(
"metrics",{});if(!e.ok)throw await tr(e);return e.text()}async function ct(){let e=await B("caller/get",{});Ce.value=e,it.value=null}function sa(e,n){let r=e.split(
"*").map(o=>o.replace(/[.+?^${}()|[\]\\]/g,"\\$&"));return new RegExp(`^${r.join(".*")}$`,"s").test(n)}function rr(e,n){return Ce.value?.grants.some(r=>r.verbs.
includes(e)&&r.namespaces.some(n))??!1}function oe(e,n){return(e==="read"||!ye.readOnly)&&rr(e,r=>sa(r,n))}function Ze(e){return(e==="read"||!ye.readOnly)&&rr(e,
n=>n==="*")}var ar=er.href.replace(/\/$/,"");function sr(e){let[n="",r=""]=e.replace(/^#\/?/,"").split("?",2);return{path:n.split("/").filter(Boolean).map(s=>{try{return decodeURIComponent(s)}catch{return s}}),
query:new URLSearchParams(r)}}var ee=se(sr(location.hash));addEventListener("hashchange",()=>{ee.value=sr(location.hash)});function A(e,n={}){let r=Object.entries(
{ns:$.value,...n}).filter(([,o])=>o);return`#/${e.map(encodeURIComponent).join("/")}?${new URLSearchParams(r)}`}function ae(e,n={}){location.hash=A(e,n)}function fe(e){
let n=Object.fromEntries(ee.value.query);delete n.cursor,ae(ee.value.path,{...n,...e})}var or="timerbus-namespace",$=Le(()=>ee.value.query.get("ns")||localStorage.
getItem(or)||"default");_e(()=>{localStorage.setItem(or,$.value)});var cn=se([]);async function Rt(){let e=[];for(let n;;){let r=await B("namespaces/list",{limit:200,
cursor:n});if(e=e.concat(r.namespaces),n=r.nextCursor,!n||e.length>=1e3)break}return cn.value=e,e}function Dt(e,n){let r=se(localStorage.getItem(e)??n);return _e(
()=>{localStorage.setItem(e,r.value)}),r}var ce=Dt("timerbus-zone","local"),Ee=Dt("timerbus-theme","auto"),be=Dt("timerbus-live","on"),Ot=Dt("timerbus-shortcuts",
"on");_e(()=>{Ee.value==="auto"?delete document.documentElement.dataset.theme:document.documentElement.dataset.theme=Ee.value});var Se=se(null),ir=se(Date.now());
setInterval(()=>{document.hidden||(ir.value=Date.now())},1e3);var lr=Le(()=>ir.value+Nt.value),ut=()=>Date.now()+Nt.value,Je=se([]),oa=1;function Fe(e,n="ok"){let r=oa++;
Je.value=[...Je.value.slice(-2),{id:r,text:e,kind:n}],setTimeout(()=>{un(r)},1e4)}function un(e){Je.value=Je.value.filter(n=>n.id!==e)}var dt=Intl.DateTimeFormat().resolvedOptions().timeZone,cr=new Map;function ia(){return ce.value==="utc"?"UTC":ce.value==="schedule"&&Se.value?Se.value:dt}function la(e){
let n=cr.get(e);return n||(n=new Intl.DateTimeFormat("sv-SE",{dateStyle:"short",timeStyle:"medium",timeZone:e}),cr.set(e,n)),n}function he(e,n=ia()){let r=typeof e==
"number"?e:Date.parse(e);return Number.isNaN(r)?String(e):la(n).format(r)}function ur(e){return he(e).slice(11,16)}function ge(e){let n=Math.abs(e);if(n<1)return n===
0?"0 ms":"< 1 ms";if(n<1e3)return`${Math.round(n)} ms`;let r=n/1e3;return r<10?`${r.toFixed(1)} s`:r<120?`${Math.round(r)} s`:r<7200?`${Math.round(r/60)} min`:r<
172800?`${Math.round(r/3600)} h`:`${Math.round(r/86400)} d`}function dr(e,n){let r=(typeof e=="number"?e:Date.parse(e))-n,o=Math.abs(r)<12e4?ge(Math.round(r/1e3)*
1e3||0):ge(r);if(Math.abs(r)<500)return"now";let s=Math.abs(r)<1e4?`${Math.round(Math.abs(r)/1e3)} s`:o;return r>0?`in ${s}`:`${s} ago`}var ca=new Intl.NumberFormat(
"en-US"),P=e=>ca.format(e);function te(e,n){return`${P(e)} ${n}${e===1?"":"s"}`}var ua={ns:1e-6,us:.001,\u00B5s:.001,ms:1,s:1e3,m:6e4,h:36e5,d:864e5};function dn(e){
let n=0;for(let[,r="0",o="ms"]of e.matchAll(/(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h|d)/g))n+=Number(r)*(ua[o]??0);return n}function j(e){if(!e)return"";let[,n]=/^(\d+)h(?:0m0s)?$/.
exec(e)??[];return n&&Number(n)>24&&Number(n)%24===0?`${Number(n)/24}d`:e.replace(/(\d+h)0m0s$/,"$1").replace(/(\d+m)0s$/,"$1")}function Ne(e){return e?he(e,ce.
value==="utc"?"UTC":dt).replace(" ","T"):""}function ue(e){if(!e)return;let n=new Date(ce.value==="utc"?`${e}Z`:e);return Number.isNaN(n.getTime())?void 0:n.toISOString()}
function Lt(e){if(!e)return"";try{return new URL(e).host}catch{return e}}function Ft(e){return/^[A-Za-z0-9_@%+=:,./-]+$/.test(e)?e:`'${e.replaceAll("'","'\\''")}\
'`}var da=Symbol.for("pv"),pa=0;function t(e,n,r,o,s,a){n||(n={});var i,l,c=n;if("ref"in c&&typeof e!="function")for(l in c={},n)l=="ref"?i=n[l]:c[l]=n[l];var u={type:e,props:c,key:r,ref:i,__k:null,
__:null,__b:0,__e:null,__c:null,constructor:da,__v:--pa,__i:-1,__u:0};return(s||a)&&(u.__source=s,u.__self=a),R.vnode&&R.vnode(u),u}var pr=!1;function z({title:e,crumb:n,actions:r,children:o}){let s=le(null);return X(()=>{document.title=`${e} \xB7 Timerbus`},[e]),X(()=>{pr&&(s.current?.focus(
{preventScroll:!0}),scrollTo(0,0)),pr=!0},[]),t(b,{children:[t("div",{class:"page-head",children:[t("div",{class:"page-title",children:[n&&t("div",{class:"crumb",
children:n}),t("h1",{tabIndex:-1,ref:s,children:e})]}),r&&t("div",{class:"actions",children:r})]}),o]})}function E({title:e,aside:n,children:r,wide:o,flush:s}){
let a=nt();return t("section",{class:`card${o?" wide":""}${s?" flush":""}`,"aria-labelledby":e?a:void 0,children:[e&&t("div",{class:"card-head",children:[t("h2",
{id:a,children:e}),n]}),r]})}function ne({kind:e,children:n}){return t("span",{class:`badge ${e}`,children:n})}var $e=({status:e})=>t(ne,{kind:e,children:e});function D({
at:e,only:n}){if(!e)return t("span",{class:"muted",children:"\u2013"});let r=he(e);if(n==="absolute")return t("time",{dateTime:e,title:e,children:r});let o=dr(e,
lr.value);return n==="relative"?t("time",{dateTime:e,title:r,children:o}):t("time",{dateTime:e,title:e,class:"time",children:[t("span",{children:r})," ",t("span",
{class:"muted",children:o})]})}function w({kind:e="",...n}){return t("button",{type:"button",...n,class:`button ${e}`})}function It({text:e,label:n="Copy"}){let[
r,o]=h(!1);X(()=>{if(!r)return;let a=setTimeout(()=>{o(!1)},2e3);return()=>{clearTimeout(a)}},[r]);let s=async()=>{try{await navigator.clipboard.writeText(e)}catch{
let a=document.createElement("textarea");a.value=e,document.body.append(a),a.select(),document.execCommand("copy"),a.remove()}o(!0)};return t(w,{kind:"small",onClick:()=>{
s()},children:r?"Copied":n})}function Mt({text:e,label:n}){return t("div",{class:"command",children:[t("pre",{tabIndex:0,"aria-label":n,children:t("code",{children:e})}),
t(It,{text:e})]})}function M({title:e,children:n,command:r}){return t("div",{class:"empty",children:[t("p",{class:"empty-title",children:e}),n&&t("p",{class:"mu\
ted",children:n}),r&&t(Mt,{text:r,label:"Command"})]})}var ma={0:"Not reachable",401:"Not signed in",403:"Not allowed",404:"Not found",409:"Changed or existing",
429:"Too many requests",503:"Not available",504:"Outcome unknown"};function me({error:e,again:n}){return t("div",{class:"error",role:"alert",children:[t("div",{
children:[t("strong",{children:ma[e.status]??"Failed"})," ",t("code",{children:[e.status||""," ",e.code]}),t("p",{children:e.message})]}),n&&t(w,{kind:"small",onClick:n,
children:"Try again"})]})}function q({of:e,children:n}){return t(b,{children:[e.error&&t(me,{error:e.error,again:e.again}),e.data!==void 0?n(e.data):e.loading&&
t("div",{class:"skeleton",role:"status",children:t("span",{class:"sr",children:"Loading"})})]})}function Ie({title:e,close:n,children:r,wide:o}){let s=le(null),
a=nt();return X(()=>{let i=s.current,l=document.activeElement;return i?.showModal(),()=>{i?.close(),l?.focus()}},[]),t("dialog",{ref:s,class:o?"wide":"","aria-l\
abelledby":a,onCancel:i=>{i.preventDefault(),n()},children:[t("div",{class:"dialog-head",children:[t("h2",{id:a,children:e}),t(w,{kind:"icon","aria-label":"Clos\
e",onClick:n,children:"\u2715"})]}),r]})}function mr({label:e,hint:n,children:r,error:o}){let s=nt(),a=n||o?`${s}-hint`:void 0;return t("div",{class:"field",children:[
t("label",{for:s,children:e}),r(s,a),(n||o)&&t("p",{id:a,class:o?"hint bad":"hint",children:o??n})]})}function N({label:e,value:n,set:r,hint:o,error:s,type:a="t\
ext",placeholder:i,required:l,mono:c,step:u}){return t(mr,{label:e,hint:o,error:s,children:(d,p)=>t("input",{id:d,type:a,value:n,placeholder:i,required:l,step:u,
spellcheck:!1,autocomplete:"off",class:c?"mono":"","aria-describedby":p,"aria-invalid":s?!0:void 0,onInput:f=>{r(f.currentTarget.value)}})})}function pt({label:e,
value:n,set:r,hint:o,error:s,rows:a=5}){return t(mr,{label:e,hint:o,error:s,children:(i,l)=>t("textarea",{id:i,rows:a,value:n,class:"mono",spellcheck:!1,"aria-d\
escribedby":l,"aria-invalid":s?!0:void 0,onInput:c=>{r(c.currentTarget.value)}})})}function ie({label:e,value:n,set:r,options:o,hint:s,hideLabel:a}){let i=nt();
return t("div",{class:"field",children:[t("label",{for:i,class:a?"sr":"",children:e}),t("select",{id:i,value:n,onChange:l=>{r(l.currentTarget.value)},children:o.
map(([l,c])=>t("option",{value:l,selected:l===n,children:c},l))}),s&&t("p",{class:"hint",children:s})]})}function ke({of:e}){return t("dl",{class:"facts",children:e.
filter(([,n])=>n!==void 0&&n!==""&&n!==null).map(([n,r])=>t("div",{children:[t("dt",{children:n}),t("dd",{children:r})]},n))})}function re({caption:e,head:n,children:r,
stack:o}){return t("div",{class:"table-wrap",tabIndex:0,role:"group","aria-label":e,children:t("table",{class:o?"stack":"",children:[t("caption",{class:"sr",children:e}),
t("thead",{children:t("tr",{children:n.map((s,a)=>t("th",{scope:"col",children:s},a))})}),t("tbody",{children:r})]})})}function Ke({value:e,label:n}){let r=typeof e==
"string"?e:JSON.stringify(e,null,2);return t("div",{class:"command",children:[t("pre",{tabIndex:0,"aria-label":n,children:t("code",{children:r})}),t(It,{text:r})]})}
function fr({bars:e,label:n,every:r}){let o=fa(Math.max(1,...e.map(i=>i.value))),s=1e3/Math.max(1,e.length),a=i=>100*(1-i/o);return t(b,{children:[t("div",{class:"\
chart",role:"img","aria-label":n,children:[t("svg",{viewBox:"0 0 1000 100",preserveAspectRatio:"none","aria-hidden":"true",children:[[0,o/2,o].map(i=>t("line",{
x1:"0",x2:"1000",y1:a(i),y2:a(i)},i)),e.map((i,l)=>i.value>0&&t("rect",{x:l*s+s*.08,width:s*.84,y:Math.min(a(i.value),99),height:Math.max(1,100-a(i.value)),children:t(
"title",{children:i.title})},l))]}),[0,o/2,o].map(i=>t("span",{class:"y","aria-hidden":"true",style:{top:`${a(i)}%`},children:Me(i)},i)),e.map((i,l)=>l%r===0&&t(
"span",{class:"x","aria-hidden":"true",style:{left:`${l*s/10}%`},children:i.label},l))]}),t("details",{class:"as-table",children:[t("summary",{children:"As a ta\
ble"}),t(re,{caption:n,head:["From","Timers"],children:e.filter(i=>i.value>0).map(i=>t("tr",{children:[t("td",{children:i.label}),t("td",{class:"num",children:i.
value})]},i.label+i.title))})]})]})}function fa(e){let n=10**Math.floor(Math.log10(e));for(let r of[1,1.2,1.6,2,3,4,5,6,8,10])if(r*n>=e)return Math.max(2,r*n);return e}
function Me(e){return e>=1e6?`${+(e/1e6).toFixed(1)}M`:e>=1e4?`${+(e/1e3).toFixed(1)}k`:e>=1e3?`${+(e/1e3).toFixed(1)}k`:String(+e.toFixed(1))}function ha({values:e}){
if(e.length<2)return t("svg",{class:"spark",viewBox:"0 0 100 24","aria-hidden":"true"});let n=Math.max(...e,1e-9),r=e.map((o,s)=>`${(s/(e.length-1)*100).toFixed(
1)},${(22-o/n*20).toFixed(1)}`);return t("svg",{class:"spark",viewBox:"0 0 100 24",preserveAspectRatio:"none","aria-hidden":"true",children:[t("polygon",{points:`\
0,24 ${r.join(" ")} 100,24`,class:"area"}),t("polyline",{points:r.join(" "),class:"line"})]})}function V({label:e,value:n,hint:r,kind:o="",spark:s,href:a}){let i=t(
b,{children:[t("span",{class:"tile-label",children:e}),t("span",{class:"tile-value",children:n}),t("span",{class:"tile-hint",children:r}),s&&t(ha,{values:s})]});
return a?t("a",{class:`tile ${o}`,href:a,children:i}):t("div",{class:`tile ${o}`,children:i})}function pn(e){return e instanceof I?e:new I(0,"UNEXPECTED",String(e))}function de({title:e,children:n,verb:r,danger:o,path:s,body:a,done:i,close:l,after:c}){let[
u,d]=h(),[p,f]=h(!1),m=async()=>{let g=a();if(typeof g=="string"){d(new I(0,"INCOMPLETE",g));return}f(!0);try{let{late:x}=await Te(s,g);Fe(x?`${i} An earlier de\
livery may have been sent.`:i,x?"warn":"ok"),l(),c()}catch(x){d(pn(x)),f(!1)}};return t(Ie,{title:e,close:l,children:t("form",{onSubmit:g=>{g.preventDefault(),m()},
children:[n,u&&t(me,{error:u}),u?.status===409&&t("p",{class:"hint",children:"It has changed since it was shown. Close this dialog; the page shows the present s\
tate."}),t("div",{class:"dialog-foot",children:[t(w,{onClick:l,children:"Cancel"}),t("button",{type:"submit",class:`button ${o?"danger":"primary"}`,disabled:p,children:p?
"Sending\u2026":r})]})]})})}var ga=250;function Ve({action:e,close:n,after:r}){let[o,s]=h("ask"),[a,i]=h(),[l,c]=h(0),[u,d]=h({matched:0,applied:0,late:0,skipped:0,
pages:0}),[p,f]=h(),m=le(new AbortController),g=le(void 0),x=le(!1),y=async()=>{s("counting"),f(void 0),m.current=new AbortController;try{i(await e.count(m.current.
signal,c)),s("counted")}catch(L){if(m.current.signal.aborted)return;f(pn(L)),s("ask")}},C=async()=>{s("running"),f(void 0),x.current=!1;let L=u;try{do{let{data:F}=await Te(
e.path,{...e.filter,limit:ga,cursor:g.current});g.current=F.nextCursor,L={matched:L.matched+F.matched,applied:L.applied+F.applied,late:L.late+(F.late??0),skipped:L.
skipped+F.skipped,pages:L.pages+1},d(L)}while(g.current&&!x.current);s(g.current?"cancelled":"ended")}catch(F){f(pn(F)),s("failed")}r()},v=()=>{m.current.abort(),
x.current=!0,n()},_=a?.n??0,T=`${te(u.applied,"timer")} ${e.done}`+(u.skipped?`, ${P(u.skipped)} skipped`:"")+(u.late?`, ${P(u.late)} of them late`:"");return t(
Ie,{title:e.title,close:v,children:[t("p",{children:e.describe}),o==="counting"&&t("p",{role:"status",children:["Counting\u2026 ",l>0&&P(l)]}),o==="counted"&&a&&
t("p",{role:"status",class:"callout",children:["Dry run: ",a.more?"at least ":"",te(a.n,"timer")," would be ",e.done,a.skipped?`, ${P(a.skipped)} would be skipp\
ed, because they were retried before`:"",". Nothing was changed."]}),u.pages>0&&t("div",{class:"progress-wrap",children:[t("progress",{max:Math.max(1,_,u.matched),
value:u.matched,"aria-label":"Progress"}),t("p",{role:"status",children:[o==="running"?"Working: ":o==="ended"?"Finished: ":o==="cancelled"?"Cancelled: ":"Stopp\
ed: ",T,o==="cancelled"&&". The others were not changed."]})]}),p&&t(me,{error:p}),t("div",{class:"dialog-foot",children:[o==="running"?t(w,{kind:"danger",onClick:()=>{
x.current=!0},children:"Cancel"}):t(w,{onClick:v,children:"Close"}),(o==="ask"||o==="counted")&&t(w,{onClick:()=>{y()},children:"Dry run"}),(o==="ask"||o==="cou\
nted")&&t(w,{kind:e.danger?"danger":"primary",onClick:()=>{C()},children:[e.verb," ",a?a.more?"all":P(a.n):"all"]}),(o==="cancelled"||o==="failed")&&t(w,{kind:"\
primary",onClick:()=>{C()},children:"Continue"})]})]})}function va(e){let n=[];for(let r of e.split(`
`)){if(!r.startsWith("timerbus_"))continue;let o=/^(\w+)(?:\{(.*)\})? (\S+)/.exec(r);if(!o)continue;let s={};for(let[,a="",i=""]of(o[2]??"").matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g))
s[a]=i.replace(/\\(.)/g,(l,c)=>c==="n"?`
`:c);n.push({name:o[1].slice(9),labels:s,value:Number(o[3].replace("Inf","Infinity"))})}return n}var Ge=class{at=performance.now();byName=new Map;constructor(n){
for(let r of va(n)){let o=this.byName.get(r.name);o?o.push(r):this.byName.set(r.name,[r])}}sum(n,r={}){let o=this.byName.get(n)?.filter(s=>Object.entries(r).every(
([a,i])=>s.labels[a]===i));return o?.length?o.reduce((s,a)=>s+a.value,0):void 0}by(n,r,o={}){let s=new Map;for(let a of this.byName.get(n)??[]){if(!Object.entries(
o).every(([l,c])=>a.labels[l]===c))continue;let i=a.labels[r]??"";s.set(i,(s.get(i)??0)+a.value)}return s}quantile(n,r,o,s={}){let a=o?.by(`${r}_bucket`,"le",s),
i=[...this.by(`${r}_bucket`,"le",s)].map(([p,f])=>[p==="+Inf"?1/0:Number(p),f-(a?.get(p)??0)]).sort((p,f)=>p[0]-f[0]),l=i.at(-1)?.[1]??0;if(l<=0)return;let c=n*
l,u=0,d=0;for(let[p,f]of i){if(f>=c)return p===1/0?u:u+(p-u)*(f===d?1:(c-d)/(f-d));u=p,d=f}return u}};var _a=6e4,ya=100;function U(e,n,r,o=!1){let[s,a]=h({key:""}),[i,l]=h(0),c=le(r);c.current=r;let u=be.value==="on";wt(()=>{let p=new AbortController,f=0,m=0,g=!1,
x=v=>{clearTimeout(f),u&&n>0&&(f=window.setTimeout(()=>{y()},v))},y=async()=>{if(g||p.signal.aborted||document.hidden&&f!==0)return;g=!0;let v=performance.now();
try{let T=await c.current(p.signal);if(p.signal.aborted)return;m=0,a({key:e,data:T})}catch(T){if(p.signal.aborted)return;m++;let L=T instanceof I?T:new I(0,"UNE\
XPECTED",String(T));if(a(F=>F.key===e&&F.data!==void 0?{key:e,data:F.data,error:L}:{key:e,error:L}),L.status>=400&&L.status<500&&L.status!==429)return}finally{g=
!1}let _=o?Math.max(n,ya*(performance.now()-v)):n;x(m?Math.max(n,Math.min(_a,n*2**m)):_)},C=()=>{!document.hidden&&u&&y()};return document.addEventListener("vis\
ibilitychange",C),y(),()=>{p.abort(),clearTimeout(f),document.removeEventListener("visibilitychange",C)}},[e,n,i,u]);let d=s.key===e?s:{key:e};return{data:d.data,
error:d.error,loading:d.data===void 0&&d.error===void 0,again:()=>{l(p=>p+1)}}}var hr=60,ba=6e4;function ka(){let e=le([]),n=le({fires:[],lateness:[]}),r=Ze("read");return{poll:U(`figures/${r?"":$.value}`,r?3e3:3e4,async()=>{if(!r)return gr();
let s=new Ge(await Bt()),a=e.current;for(a.push(s);a.length>2&&s.at-a[1].at>ba;)a.shift();let i=a.length>1?a[0]:void 0,l=s.sum("dispatcher_fires_total"),c=s.sum(
"timers_pending"),u=i?(s.at-i.at)/1e3:0,d=i&&l!==void 0?Math.max(0,l-(i.sum("dispatcher_fires_total")??0))/u:void 0,p=m=>s.quantile(m,"dispatcher_lateness_secon\
ds",i)??s.quantile(m,"dispatcher_lateness_seconds"),f={lateness50:p(.5),lateness99:p(.99),fires:d,pending:c,overdue:s.sum("timers_overdue"),dead:s.sum("timers_d\
ead"),held:c===void 0?void 0:(s.sum("timers_paused")??0)+(s.sum("timers_parked")??0),oldest:s.sum("timers_oldest_overdue_seconds"),whole:!0,local:l!==void 0};return d!==
void 0&&(n.current.fires=[...n.current.fires,d].slice(-hr)),f.lateness99!==void 0&&(n.current.lateness=[...n.current.lateness,f.lateness99].slice(-hr)),c===void 0?
{...f,...await gr()}:f},!r),series:n.current}}async function gr(){let e=async i=>(await B("timers/count",{namespace:$.value,...i})).count,[n,r,o,s,a]=await Promise.
all([e({status:"scheduled"}),e({status:"scheduled",dueBefore:new Date(ut()).toISOString()}),e({status:"dead"}),e({status:"paused"}),e({status:"parked"})]);return{
pending:n,overdue:r,dead:o,held:(s??0)+(a??0),whole:!1,local:!1}}var mn=e=>e===void 0?"\u2013":ge(e*1e3);function wa({of:e}){let n=e.reasons??[],r=e.degraded??[],
o=n.length?"dead":r.length?"retrying":"done";return t("div",{class:`health ${o}`,role:"status",children:[t(ne,{kind:o,children:n.length?"not ready":r.length?"de\
graded":"healthy"}),n.length===0&&r.length===0&&t("span",{children:"Requests are served, and all parts work."}),t("ul",{children:[n.map(s=>t("li",{children:s},s)),
r.map(s=>t("li",{children:[t("strong",{children:s.part}),": ",s.reason,", ",t(D,{at:s.since})]},s.part))]})]})}var fn=[["24h","24 hours",24,30],["1h","1 hour",1,
1],["7d","7 days",168,240]];function xa(){let[e,n]=h("24h"),[,r,o,s]=fn.find(([l])=>l===e)??fn[0],a=U(`forecast/${$.value}/${e}`,6e4,l=>{let c=s*6e4,u=Math.floor(
ut()/c)*c;return B("timers/forecast",{namespace:$.value,from:new Date(u).toISOString(),to:new Date(u+o*36e5).toISOString(),bucket:`${s}m`},l)},!0),i=t("div",{class:"\
segments",role:"group","aria-label":"Range of the forecast",children:fn.map(([l,c])=>t("button",{type:"button","aria-pressed":e===l,onClick:()=>{n(l)},children:c},
l))});return t(E,{title:"Forecast",aside:i,wide:!0,children:t(q,{of:a,children:l=>{let c=Date.parse(l.from),u=l.counts.reduce((p,f)=>p+f,0),d=l.counts.map((p,f)=>{
let m=c+f*s*6e4;return{label:o>24?he(m).slice(5,16):ur(m),value:p,title:`${he(m)}: ${te(p,"timer")}`}});return t(b,{children:[t("p",{class:"muted",children:[te(
u,"timer")," of ",$.value," due in the next ",r,l.truncated&&`, counted until ${he(l.completeBefore)}`]}),u===0?t(M,{title:"Nothing is due in this time.",command:"\
timerbus timer create hello --in 1h",children:"Create a timer:"}):t(fr,{bars:d,every:Math.ceil(d.length/(innerWidth<600?4:8)),label:`Timers due in the next ${r}\
, for each ${s} minutes: ${u} in all`})]})}})})}function Ut(e){return e.callbackUrl?Lt(e.callbackUrl):e.topic?`topic ${e.topic}`:"event"}function Ca(){let e=U(`\
next/${$.value}`,3e3,n=>B("timers/list",{namespace:$.value,order:"due",limit:8},n));return t(E,{title:"Due next",aside:t("a",{href:A(["timers"]),children:"All t\
imers"}),flush:!0,children:t(q,{of:e,children:({timers:n})=>n.length===0?t(M,{title:"No timer waits.",command:"timerbus timer create hello --in 3s --callback-ur\
l http://127.0.0.1:9000/",children:"Create one, here or with the CLI:"}):t(re,{caption:"Timers that are due next",head:["Due","Timer","Target","Status"],children:n.
map(r=>t("tr",{children:[t("td",{children:t(D,{at:r.dueAt,only:"relative"})}),t("td",{class:"id",children:t("a",{href:A(["timers",r.id]),children:r.id})}),t("td",
{class:"clip",children:Ut(r)}),t("td",{children:t($e,{status:r.status})})]},r.uuid))})})})}function Ta(){let e=U(`failed/${$.value}`,1e4,n=>B("timers/list",{namespace:$.
value,status:"dead",limit:8},n));return t(E,{title:"Dead letters",aside:t("a",{href:A(["dead"]),children:"By reason"}),flush:!0,children:t(q,{of:e,children:({timers:n})=>n.
length===0?t(M,{title:"No timer is dead.",children:"Timers whose retry policy has ended appear here."}):t(re,{caption:"Some dead timers",head:["Timer","Target",
"Error"],children:n.map(r=>t("tr",{children:[t("td",{class:"id",children:t("a",{href:A(["timers",r.id]),children:r.id})}),t("td",{class:"clip",children:Ut(r)}),
t("td",{class:"clip",title:r.lastError,children:r.lastError})]},r.uuid+r.generation))})})})}function vr(){let e=U("health",5e3,()=>nr()),{poll:n,series:r}=ka(),
o=n.data,s=o&&!o.whole?`namespace ${$.value}`:"cluster";return t(z,{title:"Overview",children:[t(q,{of:e,children:a=>t(wa,{of:a})}),t(q,{of:n,children:a=>t(b,{children:[
t("div",{class:"tiles",children:[t(V,{label:"Lateness p50",value:mn(a.lateness50),hint:"start of the attempt",kind:a.lateness50!==void 0&&a.lateness50>5?"warn":
""}),t(V,{label:"Lateness p99",value:mn(a.lateness99),hint:"last minute",kind:a.lateness99!==void 0&&a.lateness99>10?"warn":"",spark:r.lateness}),t(V,{label:"Fi\
res",value:a.fires===void 0?"\u2013":`${Me(a.fires)}/s`,hint:"last minute",spark:r.fires}),t(V,{label:"Pending",value:a.pending===void 0?"\u2013":Me(a.pending),
hint:(a.pending??0)<1e3?"scheduled, retrying":P(a.pending??0),href:A(["timers"])}),t(V,{label:"Backlog",value:a.overdue===void 0?"\u2013":Me(a.overdue),hint:a.oldest?
`oldest ${mn(a.oldest)}`:"overdue timers",kind:(a.oldest??0)>10?"warn":""}),t(V,{label:"Dead",value:a.dead===void 0?"\u2013":Me(a.dead),hint:"can be retried",kind:a.
dead?"bad":"",href:A(["dead"])}),t(V,{label:"Paused, parked",value:a.held===void 0?"\u2013":Me(a.held),hint:s,href:A(["timers"],{status:"paused"})})]}),!a.local&&
t("p",{class:"callout",children:a.whole?t(b,{children:["This process delivers no timers, so it has no lateness and fires. Dispatchers export them at ",t("code",
{children:"/metrics"}),"; the Grafana dashboard shows all processes."]}):t(b,{children:"Lateness and fires need the right to read all namespaces."})})]})}),t("d\
iv",{class:"grid",children:[t(xa,{}),t(Ca,{}),t(Ta,{})]})]})}var Sa=50,$a=[["","Live (all that are not finished)"],["scheduled","Scheduled"],["retrying","Retrying"],["paused","Paused"],["parked","Parked"],["done","Done"],
["dead","Dead"]];async function qt(e,n,r){if(!e.correlationId){let{correlationId:s,...a}=e,{count:i,truncated:l}=await B("timers/count",a,n);return{n:i,more:l}}
let o=0;for(let s;;){let a=await B("timers/list",{...e,limit:1e3,cursor:s},n);if(r(o+=a.timers.length),s=a.nextCursor,!s)return{n:o,more:!1}}}function hn({timers:e,
caption:n}){return t(re,{caption:n,head:["Timer","Status","Due","Target","Attempts","Last error"],stack:!0,children:e.map(r=>t("tr",{children:[t("td",{class:"id",
"data-label":"Timer",children:t("a",{href:A(["timers",r.id]),children:r.id})}),t("td",{"data-label":"Status",children:t($e,{status:r.status})}),t("td",{"data-la\
bel":"Due",children:t(D,{at:r.status==="done"||r.status==="dead"?r.executeAt:r.dueAt})}),t("td",{class:"clip","data-label":"Target",title:r.callbackUrl??r.topic,
children:Ut(r)}),t("td",{class:"num","data-label":"Attempts",children:r.attempts}),t("td",{class:"clip","data-label":"Last error",title:r.lastError,children:r.lastError??
t("span",{class:"muted",children:"\u2013"})})]},r.uuid+r.generation))})}function _r(){let e=ee.value.query,n=e.get("status")??"",r=e.get("correlationId")??"",o=e.
get("dueFrom")??"",s=e.get("dueBefore")??"",a=e.get("cursor")??"",i=(n===""||n==="scheduled"||n==="retrying")&&!r&&e.get("order")!=="key",[l,c]=h(""),[u,d]=h(null),
p={namespace:$.value,status:n||void 0,correlationId:r||void 0,dueFrom:o||void 0,dueBefore:s||void 0},f=JSON.stringify([p,i,a]),m=U(f,a?1e4:3e3,_=>B("timers/list",
{...p,order:i?"due":"key",limit:Sa,cursor:a||void 0},_)),g=U(r?"":JSON.stringify(p),r?0:3e4,_=>{let{correlationId:T,...L}=p;return B("timers/count",L,_)},!0),x=oe(
"write",$.value),y=_=>{let T={pause:["Pause timers","Pause","paused"],resume:["Resume timers","Resume","resumed"],delete:["Delete timers","Delete","deleted"],retry:[
"Retry timers","Retry","started again"],purge:["Delete from history","Delete","removed from history"]},[L,F,pe]=T[_],{status:Q,...S}=p,k=_==="resume"?S:p;d({title:L,
verb:F,done:pe,path:`timers/${_}-matching`,filter:k,danger:_==="delete"||_==="purge",describe:t(b,{children:["All timers of ",t("strong",{children:$.value})," t\
hat this page\u2019s filter selects, not only those of the shown page."]}),count:(W,O)=>qt({...p,status:_==="resume"?"paused":p.status},W,O)})},C=!!(n||r||o||s),
v=x&&t(b,{children:[(n===""||n==="scheduled"||n==="retrying")&&t(w,{onClick:()=>{y("pause")},children:"Pause all\u2026"}),(n===""||n==="paused")&&t(w,{onClick:()=>{
y("resume")},children:"Resume all\u2026"}),(n==="dead"||n==="parked")&&t(w,{onClick:()=>{y("retry")},children:"Retry all\u2026"}),(n==="dead"||n==="done")&&t(w,
{onClick:()=>{y("purge")},children:"Delete all\u2026"}),n!=="dead"&&n!=="done"&&C&&t(w,{onClick:()=>{y("delete")},children:"Delete all\u2026"}),t("a",{class:"bu\
tton primary",href:A(["new","timer"]),children:"Create timer"})]});return t(z,{title:"Timers",actions:v,children:[t("form",{class:"filters",role:"search",onSubmit:_=>{
_.preventDefault(),l.trim()&&ae(["timers",l.trim()])},children:[t("div",{class:"field",children:[t("label",{for:"open",children:"Open by id"}),t("div",{class:"j\
oined",children:[t("input",{id:"open","data-search":!0,type:"search",value:l,placeholder:"order-1842",spellcheck:!1,onInput:_=>{c(_.currentTarget.value)}}),t("b\
utton",{type:"submit",class:"button",children:"Open"})]})]}),t(ie,{label:"Status",value:n,options:$a,set:_=>{fe({status:_})}}),t(Ue,{label:"Correlation id",value:r,
set:_=>{fe({correlationId:_})}}),t(Ue,{label:`Due from (${ce.value==="utc"?"UTC":"local"})`,type:"datetime-local",value:Ne(o),set:_=>{fe({dueFrom:ue(_)})}}),t(Ue,
{label:"Due before",type:"datetime-local",value:Ne(s),set:_=>{fe({dueBefore:ue(_)})}}),(C||a)&&t(w,{kind:"ghost",onClick:()=>{ae(["timers"])},children:"Clear"})]}),
t(E,{flush:!0,wide:!0,children:t(q,{of:m,children:_=>t(b,{children:[_.timers.length===0?t(M,{title:C||a?"No timer matches.":"There are no timers in this namespa\
ce.",command:C||a?void 0:`timerbus timer create hello --in 3s --callback-url http://127.0.0.1:9000/ -n ${$.value}`,children:C||a?_.nextCursor?"This page is empt\
y; the next one may not be.":"Change the filter, or clear it.":"Create the first one, here or with the CLI:"}):t(hn,{timers:_.timers,caption:"Timers"}),t("div",
{class:"pager",children:[t("span",{class:"muted",role:"status",children:[r?"":g.data?`${g.data.truncated?"at least ":""}${P(g.data.count)} in all`:"",i?(r?"":",\
 ")+"the next due first":", in a fixed order"]}),t("span",{class:"pager-buttons",children:[a&&t("a",{class:"button",href:A(["timers"],{...Object.fromEntries(e),
cursor:void 0}),children:"First page"}),_.nextCursor&&t("a",{class:"button",href:A(["timers"],{...Object.fromEntries(e),cursor:_.nextCursor}),children:"Next pag\
e"})]})]})]})})}),u&&t(Ve,{action:u,close:()=>{d(null)},after:()=>{m.again(),g.again()}})]})}function Ue({label:e,value:n,set:r,type:o}){let[s,a]=h(n),[i,l]=h(n);
i!==n&&(l(n),a(n));let c=()=>{s!==n&&r(s)};return t("div",{onFocusOut:c,onKeyDown:u=>{u.key==="Enter"&&(u.preventDefault(),c())},children:t(N,{label:e,value:s,set:a,
type:o,step:o?"1":void 0})})}var yr=5e3,Aa=500,Pa=20;function Ea(e,n){for(let r of n){let o=r.callbackUrl?Lt(r.callbackUrl):r.topic?`topic ${r.topic}`:"event",s=r.lastError??"",a=`${r.callbackUrl?
"u":"e"}\0${r.callbackUrl?o:""}\0${s}`,i=e.groups.get(a);i||(i={host:o,hasURL:!!r.callbackUrl,error:s,status:r.lastStatusCode,timers:[],count:0,oldest:r.executeAt,
newest:r.executeAt},e.groups.set(a,i)),i.count++,i.timers.length<Pa&&i.timers.push(r),r.executeAt<i.oldest&&(i.oldest=r.executeAt),r.executeAt>i.newest&&(i.newest=
r.executeAt)}e.read+=n.length}function Na({of:e}){let[n,r]=h(e.timers);return X(()=>{let o=new AbortController,s=a=>B("timers/get",{namespace:a.namespace,id:a.id},
o.signal).then(i=>i.generation===a.generation?a:{...a,status:i.status},()=>a);return Promise.all(e.timers.map(s)).then(a=>{o.signal.aborted||r(a)}),()=>{o.abort()}},
[e.timers]),t(hn,{timers:n,caption:`Dead timers of ${e.host}`})}function br(){let e=ee.value.query,n=e.get("correlationId")??"",r=e.get("dueFrom")??"",o=e.get("\
dueBefore")??"",s=$.value,a={namespace:s,status:"dead",correlationId:n||void 0,dueFrom:r||void 0,dueBefore:o||void 0},i=JSON.stringify(a),[l,c]=h(),[u,d]=h(),[p,
f]=h(!0),[m,g]=h(),[x,y]=h(null),[C,v]=h(0),_=async(S,k,W=!1)=>{let O=S?{groups:new Map([...S.groups].map(([G,ve])=>[G,{...ve,timers:[...ve.timers]}])),read:S.read,
cursor:S.cursor}:{groups:new Map,read:0,cursor:void 0},Z=O.read+yr;f(!0);try{do{let G=await B("timers/list",{...a,limit:Aa,cursor:O.cursor},k);Ea(O,G.timers),O.
cursor=G.nextCursor,W||c({...O})}while(O.cursor&&O.read<Z);c({...O}),d(void 0)}catch(G){if(k.aborted)return;d(G instanceof I?G:new I(0,"UNEXPECTED",String(G)))}
f(!1)};X(()=>{let S=new AbortController;return _(void 0,S.signal,C>0),()=>{S.abort()}},[i,C]),X(()=>{if(be.value!=="on"||x||(l?.read??0)>=yr)return;let S=setTimeout(
()=>{document.hidden||v(k=>k+1)},1e4);return()=>{clearTimeout(S)}},[C,be.value,x,l?.read]);let T=(S,k)=>{let W=k?{...a,callbackHost:k.hasURL?k.host:"",lastError:k.
error||void 0}:{...a},O=`timers/${S}-matching`;y({title:S==="retry"?"Retry dead timers":"Delete dead timers",verb:S==="retry"?"Retry":"Delete",done:S==="retry"?
"started again":"removed from history",path:O,filter:W,danger:S==="purge",describe:k?t(b,{children:["All dead timers of ",t("strong",{children:s})," that call ",
t("strong",{children:k.host})," and failed with ",t("q",{children:k.error}),"."]}):t(b,{children:["All dead timers of ",t("strong",{children:s})," that this pag\
e\u2019s filter selects, also those that were not read yet."]}),count:async(Z,G)=>{let ve=0,mt=0;for(let qe;;){let{data:Xe}=await Te(O,{...W,dryRun:!0,limit:1e3,
cursor:qe},Z);if(G(ve+=Xe.applied),mt+=Xe.skipped,qe=Xe.nextCursor,!qe)return{n:ve,more:!1,skipped:mt}}}})},L=oe("write",s),F=l?[...l.groups].sort(([,S],[,k])=>k.
count-S.count):[],pe=!!(n||r||o),Q=L&&F.length>0&&t(b,{children:[t(w,{kind:"primary",onClick:()=>{T("retry")},children:"Retry all\u2026"}),t(w,{kind:"danger-gho\
st",onClick:()=>{T("purge")},children:"Delete all\u2026"})]});return t(z,{title:"Dead letters",actions:Q,children:[t("form",{class:"filters",role:"search",onSubmit:S=>{
S.preventDefault()},children:[t(Ue,{label:"Correlation id",value:n,set:S=>{fe({correlationId:S})}}),t(Ue,{label:"Planned from",type:"datetime-local",value:Ne(r),
set:S=>{fe({dueFrom:ue(S)})}}),t(Ue,{label:"Planned before",type:"datetime-local",value:Ne(o),set:S=>{fe({dueBefore:ue(S)})}}),pe&&t(w,{kind:"ghost",onClick:()=>{
ae(["dead"])},children:"Clear"})]}),u&&t(me,{error:u,again:()=>{v(S=>S+1)}}),!l&&p&&t("div",{class:"skeleton",role:"status",children:t("span",{class:"sr",children:"\
Loading"})}),l&&F.length===0&&!p&&t(E,{children:t(M,{title:pe?"No dead timer matches.":"No timer is dead.",children:pe?"Change the filter, or clear it.":t(b,{children:[
"Timers whose retry policy has ended appear here, with their payload, for the dead retention of the namespace. ",t("a",{href:A(["timers"],{status:"retrying"}),children:"\
Timers that are retried"})]})})}),l&&F.length>0&&t(b,{children:[t("p",{class:"muted",role:"status",children:[te(l.read,"dead timer")," in ",te(F.length,"group"),
", by host and reason",l.cursor&&", and more",". A timer that was retried stays here as the history of its earlier run, until it is deleted or the dead retentio\
n ends."]}),t("div",{class:"groups",children:F.map(([S,k])=>t("section",{class:"card group","aria-label":`${k.host}: ${k.error}`,children:[t("div",{class:"group\
-head",children:[t("span",{class:"group-count",children:P(k.count)}),t("div",{class:"group-text",children:[t("div",{children:[t("strong",{children:k.host})," ",
k.status?t(ne,{kind:"dead",children:["HTTP ",k.status]}):null]}),t("div",{class:"reason",children:k.error||"no reason"}),t("div",{class:"muted",children:["plann\
ed ",he(k.oldest),k.newest!==k.oldest&&` to ${he(k.newest)}`]})]}),t("div",{class:"actions",children:[L&&t(w,{kind:"small",onClick:()=>{T("retry",k)},children:"\
Retry\u2026"}),L&&t(w,{kind:"small danger-ghost",onClick:()=>{T("purge",k)},children:"Delete\u2026"}),t(w,{kind:"small ghost","aria-expanded":m===S,onClick:()=>{
g(m===S?void 0:S)},children:[m===S?"Hide":"Show"," timers"]})]})]}),m===S&&t(Na,{of:k}),m===S&&k.count>k.timers.length&&t("p",{class:"muted pad",children:["The \
first ",k.timers.length," of ",P(k.count),"."]})]},S))}),l.cursor&&t("p",{children:t(w,{disabled:p,onClick:()=>{_(l,new AbortController().signal)},children:p?"R\
eading\u2026":"Read more"})})]}),x&&t(Ve,{action:x,close:()=>{y(null)},after:()=>{v(S=>S+1)}})]})}function kr(e){return e.cron?e.cron:e.every?`every ${j(e.every)}`:e.rrule?e.rrule:te(e.dates?.length??0,"date")}function Ba({payload:e,request:n,headers:r,...o}){
return ye.hidePayloads?o:{...o,payload:e,request:n,headers:r}}function wr(){let e=ee.value.query.get("status")??"",n=ee.value.query.get("cursor")??"",r=$.value,
o=U(`${r}/${e}/${n}`,5e3,s=>B("schedules/list",{namespace:r,status:e||void 0,limit:50,cursor:n||void 0},s));return t(z,{title:"Schedules",actions:oe("write",r)&&
t("a",{class:"button primary",href:A(["new","schedule"]),children:"Create schedule"}),children:[t("form",{class:"filters",role:"search",onSubmit:s=>{s.preventDefault()},
children:t(ie,{label:"Status",value:e,set:s=>{fe({status:s})},options:[["","All"],["active","Active"],["paused","Paused"],["parked","Parked"]]})}),t(E,{flush:!0,
wide:!0,children:t(q,{of:o,children:s=>t(b,{children:[s.schedules.length===0?t(M,{title:e?`No schedule is ${e}.`:"There are no schedules in this namespace.",command:e?
void 0:`timerbus schedule create daily-report --cron '0 8 * * MON-FRI' --time-zone Europe/Berlin -n ${r}`,children:!e&&"A schedule creates a timer for each of i\
ts instants. Create the first one, here or with the CLI:"}):t(re,{caption:"Schedules",head:["Schedule","Status","Occurs","Time zone","Next","Created"],stack:!0,
children:s.schedules.map(a=>t("tr",{children:[t("td",{class:"id","data-label":"Schedule",children:t("a",{href:A(["schedules",a.id]),children:a.id})}),t("td",{"d\
ata-label":"Status",children:t($e,{status:a.status})}),t("td",{class:"clip","data-label":"Occurs",children:t("code",{children:a.specs.map(kr).join("; ")})}),t("\
td",{"data-label":"Time zone",children:a.timeZone}),t("td",{"data-label":"Next",children:t(D,{at:a.nextAt})}),t("td",{class:"num","data-label":"Created",children:a.
created})]},a.id))}),(s.nextCursor||n)&&t("div",{class:"pager",children:[t("span",{}),t("span",{class:"pager-buttons",children:[n&&t("a",{class:"button",href:A(
["schedules"],{status:e}),children:"First page"}),s.nextCursor&&t("a",{class:"button",href:A(["schedules"],{status:e,cursor:s.nextCursor}),children:"Next page"})]})]})]})})})]})}
var Ra={gap:"The clocks skip its local time; it occurs after the gap.",first:"The clocks repeat its local time; this is the first of the two.",second:"The clock\
s repeat its local time; this is the second of the two."};function gn({of:e,timeZone:n}){return e.length===0?t(M,{title:"There are no further occurrences."}):t(
re,{caption:"Next occurrences",head:[`Local time (${n})`,"Instant","Remark"],stack:!0,children:e.map(r=>t("tr",{children:[t("td",{"data-label":"Local time",children:r.
local.replace("T"," ")}),t("td",{"data-label":"Instant",children:t(D,{at:r.at})}),t("td",{"data-label":"Remark",children:r.remark?t(b,{children:[t(ne,{kind:"ret\
rying",children:"DST"})," ",Ra[r.remark]]}):t("span",{class:"muted",children:"\u2013"})})]},r.at))})}function xr({id:e}){let n=$.value,r=U(`schedule/${n}/${e}`,
3e3,d=>B("schedules/get",{namespace:n,id:e},d)),o=r.data,s=U(`preview/${n}/${e}/${o?.version??0}`,3e4,d=>B("schedules/preview",{namespace:n,id:e,limit:10},d)),a=U(
`decisions/${n}/${e}`,5e3,d=>B("schedules/history",{namespace:n,id:e,limit:50},d)),[i,l]=h(null);X(()=>(Se.value=o?.timeZone??null,()=>{Se.value=null}),[o?.timeZone]);
let c=()=>{r.again(),a.again(),s.again()},u=o&&oe("write",n)&&o.status!=="ended"&&t(b,{children:[t(w,{kind:"primary",onClick:()=>{l("trigger")},children:"Trigge\
r\u2026"}),o.status==="active"?t(w,{onClick:()=>{l("pause")},children:"Pause\u2026"}):t(w,{onClick:()=>{l("resume")},children:"Resume\u2026"}),t(w,{onClick:()=>{
l("backfill")},children:"Backfill\u2026"}),t(w,{kind:"danger-ghost",onClick:()=>{l("delete")},children:"Delete\u2026"})]});return t(z,{title:e,crumb:t(b,{children:[
t("a",{href:A(["schedules"]),children:"Schedules"})," / ",n]}),actions:u,children:[t(q,{of:r,children:d=>t("div",{class:"grid",children:[t(Da,{of:d}),t(E,{title:"\
Timer of an occurrence",children:[t(Ke,{value:Ba(d.timer),label:"Template"}),ye.hidePayloads&&t("p",{class:"hint",children:"Its payload, body and headers are hi\
dden by the settings of the server."})]}),t(E,{title:"Next occurrences",wide:!0,flush:!0,aside:s.data&&t("span",{class:"muted",children:["time zones ",s.data.zoneVersion]}),
children:[d.status==="paused"&&t("p",{class:"callout",children:"The schedule is paused: these occurrences are not created until it is resumed."}),t(q,{of:s,children:p=>t(
gn,{of:p.occurrences,timeZone:p.timeZone})})]}),t(E,{title:"Decisions",wide:!0,flush:!0,children:t(q,{of:a,children:({decisions:p})=>p.length===0?t(M,{title:"No\
 occurrence was due yet."}):t(re,{caption:"Decisions about occurrences",head:["Occurrence","Decision","Reason","Timer"],stack:!0,children:p.map(f=>t("tr",{children:[
t("td",{"data-label":"Occurrence",children:t(D,{at:f.at})}),t("td",{"data-label":"Decision",children:t(ne,{kind:f.decision==="created"?"done":f.decision==="skip\
ped"?"retrying":"paused",children:f.decision})}),t("td",{"data-label":"Reason",children:f.reason??t("span",{class:"muted",children:"\u2013"})}),t("td",{class:"i\
d","data-label":"Timer",children:f.timerId?t("a",{href:A(["timers",f.timerId]),children:f.timerId}):t("span",{class:"muted",children:"\u2013"})})]},f.at+f.decidedAt+
f.decision))})})})]})}),o&&i&&t(Oa,{of:o,action:i,close:()=>{l(null)},after:c})]})}function Da({of:e}){return t(E,{title:"Definition",aside:t($e,{status:e.status}),
children:[e.pause&&t("div",{class:"callout",children:["Paused",e.pause.by&&` by ${e.pause.by}`," ",t(D,{at:e.pause.at}),e.pause.note&&`: ${e.pause.note}`]}),t(ke,
{of:[["Occurs",e.specs.map((n,r)=>t("div",{children:t("code",{children:kr(n)})},r))],["Time zone",e.timeZone],["Next",e.nextAt&&t(D,{at:e.nextAt})],["Created ti\
mers",e.created],["From",e.start&&t(D,{at:e.start})],["Until",e.end&&t(D,{at:e.end})],["At most",e.count],["Overlap",e.overlap],["Catch-up",e.catchUpWindow?`${e.
catchUp}, within ${j(e.catchUpWindow)}`:e.catchUp],["Skipped local times",e.gap],["Repeated local times",e.repeated],["Pause after dead",e.pauseOnDead],["Versio\
n",e.version],["Updated",t(D,{at:e.updatedAt})]]})]})}function Oa({of:e,action:n,close:r,after:o}){let[s,a]=h(""),[i,l]=h("keep"),c={namespace:e.namespace,id:e.
id},u={close:r,after:o};switch(n){case"trigger":return t(de,{...u,title:"Trigger",verb:"Trigger",path:"schedules/trigger",body:()=>c,done:`${e.id} has created a\
n occurrence.`,children:t("p",{children:"Creates an occurrence now, in addition to the planned ones."})});case"pause":return t(de,{...u,title:"Pause",verb:"Paus\
e",path:"schedules/pause",body:()=>({...c,note:s||void 0}),done:`${e.id} is paused.`,children:[t("p",{children:"A paused schedule creates no occurrences."}),t(N,
{label:"Note",value:s,set:a})]});case"resume":return t(de,{...u,title:"Resume",verb:"Resume",path:"schedules/resume",body:()=>c,done:`${e.id} is resumed.`,children:t(
"p",{children:"The schedule continues with its next occurrence."})});case"delete":return t(de,{...u,title:"Delete",verb:"Delete",danger:!0,path:"schedules/delet\
e",done:`${e.id} is deleted.`,after:()=>{ae(["schedules"])},body:()=>({...c,pending:i,ifVersion:e.version}),children:t(ie,{label:"Its timers that are not finish\
ed",value:i,set:l,options:[["keep","Keep them"],["delete","Delete them"]]})});default:return t(La,{of:e,...u})}}function La({of:e,close:n,after:r}){let[o,s]=h(""),
[a,i]=h(""),[l,c]=h(),[u,d]=h(""),[p,f]=h(!1),m=async()=>{let g=ue(a),x=ue(o);if(!x||!g){c(new I(0,"INCOMPLETE","Enter both times."));return}f(!0),c(void 0);let y=0,
C=0;try{do{let v=await B("schedules/backfill",{namespace:e.namespace,id:e.id,from:x,to:g});y+=v.created,C+=v.kept,x=v.nextFrom,d(`${te(y,"occurrence")} created,\
 ${C} existed${x?`, continuing at ${he(x)}`:""}.`)}while(x);Fe(`${e.id}: ${te(y,"occurrence")} created, ${C} existed.`),n()}catch(v){c(v instanceof I?v:new I(0,
"UNEXPECTED",String(v))),f(!1)}r()};return t(Ie,{title:"Backfill",close:n,children:t("form",{onSubmit:g=>{g.preventDefault(),m()},children:[t("p",{children:"Cre\
ates the occurrences of a past time range that do not exist. They are delivered at once."}),t(N,{label:"From",type:"datetime-local",step:"1",value:o,set:s,required:!0}),
t(N,{label:"Before",type:"datetime-local",step:"1",value:a,set:i,required:!0,hint:"Not in the future."}),u&&t("p",{role:"status",class:"callout",children:u}),l&&
t(me,{error:l}),t("div",{class:"dialog-foot",children:[t(w,{onClick:n,children:"Close"}),t("button",{type:"submit",class:"button primary",disabled:p,children:p?
"Working\u2026":"Backfill"})]})]})})}function Cr(e,n){return`curl${xe.value?` \\
  -H "Authorization: Bearer $TIMERBUS_TOKEN"`:""} ${ar}/api/v1/${e} \\
  -d ${Ft(JSON.stringify(n,null,2))}`}function Tr(e,n){let r=[...n,...$.value==="default"?[]:[["--namespace",$.value]]],o=e.at(-1)??"";return["timerbus "+(o.startsWith(
"-")?[...e.slice(0,-1),`--id=${o}`]:e).map(Ft).join(" "),...r.filter(([,a])=>a).map(([a,i])=>`  ${a} ${Ft(i)}`)].join(` \\
`)}function Sr(e){if(!e.trim())return{};try{return{value:lt(e)}}catch(n){return{error:`Not JSON: ${n.message}`}}}function vn(e){return Object.fromEntries(Object.
entries(e).filter(([,n])=>n!==void 0&&n!==""))}function $r({curl:e,cli:n}){return t(E,{title:"The same request",children:[t("h3",{children:"curl"}),t(Mt,{text:e,
label:"curl"}),t("h3",{children:"Command line"}),t(Mt,{text:n,label:"Command line"})]})}function Ar({send:e,label:n}){let[r,o]=h(),[s,a]=h(!1),i=async()=>{a(!0),
o(void 0);try{await e()}catch(l){o(l instanceof I?l:new I(0,"INCOMPLETE",l.message))}a(!1)};return t(b,{children:[r&&t(me,{error:r}),!oe("write",$.value)&&t("p",
{class:"callout",children:["You have no right to write in ",$.value,"."]}),t("button",{type:"button",class:"button primary",disabled:s||!oe("write",$.value),onClick:()=>{
i()},children:s?"Sending\u2026":n})]})}var Pr=[["fail","Refuse (409)"],["replace","Replace it"],["keep","Keep it"]];function Er({children:e}){return t("details",
{class:"more",children:[t("summary",{children:"More settings"}),e]})}function Nr(){let[e,n]=h(""),[r,o]=h("in"),[s,a]=h("15m"),[i,l]=h(""),[c,u]=h(""),[d,p]=h(dt),
[f,m]=h("http://127.0.0.1:9000/"),[g,x]=h('{"order": 1842}'),[y,C]=h(""),[v,_]=h(""),[T,L]=h(""),[F,pe]=h(""),[Q,S]=h("fail"),k=Sr(g),W=vn({namespace:$.value,id:e,
executeIn:r==="in"?s:void 0,executeAt:r==="at"?ue(i):void 0,executeAtLocal:r==="local"?c.length===16?c+":00":c:void 0,timeZone:r==="local"?d:void 0,callbackUrl:f,
payload:k.value,retryPolicy:y?{maxAttempts:Number(y)}:void 0,callbackTimeout:v,correlationId:T,flowKey:F,onConflict:Q}),O=[["--in",r==="in"?s:""],["--at",r==="a\
t"?ue(i)??"":""],["--at-local",String(W.executeAtLocal??"")],["--time-zone",String(W.timeZone??"")],["--callback-url",f],["--payload",k.value===void 0?"":JSON.stringify(
k.value)],["--max-attempts",y],["--callback-timeout",v],["--correlation-id",T],["--flow-key",F],["--on-conflict",Q]],Z=async()=>{if(k.error)throw new Error(k.error);
if(r==="at"&&!ue(i))throw new Error("Enter the time completely.");let{data:G,late:ve}=await Te("timers/create",W);Fe(ve?`${G.id} is replaced. An earlier deliver\
y may have been sent.`:`${G.id} is created.`,ve?"warn":"ok"),ae(["timers",G.id])};return t(z,{title:"Create timer",crumb:t(b,{children:[t("a",{href:A(["timers"]),
children:"Timers"})," / ",$.value]}),actions:t("a",{class:"button",href:A(["new","schedule"]),children:"Schedule instead"}),children:t("div",{class:"grid form",
children:[t(E,{title:"Timer",children:[t(N,{label:"Id",value:e,set:n,required:!0,placeholder:"order-1842",mono:!0,hint:"Unique in the namespace."}),t(ie,{label:"\
When",value:r,set:o,options:[["in","After a duration"],["at","At an instant"],["local","At a local time"]]}),r==="in"&&t(N,{label:"Duration",value:s,set:a,hint:"\
Such as 200ms, 30s, 1h30m or 1d12h."}),r==="at"&&t(N,{label:`Time (${ce.value==="utc"?"UTC":"local"})`,type:"datetime-local",step:"1",value:i,set:l}),r==="local"&&
t(b,{children:[t(N,{label:"Local time",type:"datetime-local",step:"1",value:c,set:u}),t(N,{label:"Time zone",value:d,set:p,hint:"If the rules of the zone change\
, the timer moves with them."})]}),t(N,{label:"Callback URL",value:f,set:m,mono:!0,hint:"Empty: an event on timerbus.fired."}),t(pt,{label:"Payload (JSON)",value:g,
set:x,error:k.error}),t(ie,{label:"If the id exists",value:Q,set:S,options:Pr}),t(Er,{children:[t(N,{label:"Attempts, at most",type:"number",value:y,set:C,hint:"\
1 to 1000; by default those of the namespace."}),t(N,{label:"Callback timeout",value:v,set:_,placeholder:"30s"}),t(N,{label:"Correlation id",value:T,set:L}),t(N,
{label:"Flow key",value:F,set:pe,hint:"Timers with the same key share a limit of the namespace."})]}),t(Ar,{send:Z,label:"Create timer"})]}),t($r,{curl:Cr("time\
rs/create",W),cli:Tr(["timer","create",e||"order-1842"],O)})]})})}function Br(){let[e,n]=h(""),[r,o]=h("cron"),[s,a]=h("0 8 * * MON-FRI"),[i,l]=h("15m"),[c,u]=h(
"FREQ=MONTHLY;BYDAY=-1FR"),[d,p]=h(dt),[f,m]=h("http://127.0.0.1:9000/"),[g,x]=h(""),[y,C]=h("allow"),[v,_]=h("all"),[T,L]=h(""),[F,pe]=h("fail"),[Q,S]=h(),[k,W]=h(),
O=Sr(g),Z=r==="cron"?{cron:s}:r==="every"?{every:i}:{rrule:c},G=r!=="every",ve=vn({namespace:$.value,id:e,specs:[Z],timeZone:G?d:void 0,overlap:y,catchUp:v,count:T?
Number(T):void 0,timer:vn({callbackUrl:f,payload:O.value}),onConflict:F}),mt=[[`--${r}`,String(Object.values(Z)[0])],["--time-zone",G?d:""],["--callback-url",f],
["--payload",O.value===void 0?"":JSON.stringify(O.value)],["--overlap",y],["--catch-up",v],["--count",T],["--on-conflict",F]],qe=JSON.stringify({namespace:$.value,
specs:[Z],timeZone:G?d:void 0});X(()=>{let He=new AbortController,Mr=setTimeout(()=>{B("schedules/preview",{...JSON.parse(qe),limit:6},He.signal).then(ft=>{S(ft),
W(void 0)},ft=>{!He.signal.aborted&&ft instanceof I&&(W(ft),S(void 0))})},300);return()=>{clearTimeout(Mr),He.abort()}},[qe]);let Xe=async()=>{if(O.error)throw new Error(
O.error);let{data:He}=await Te("schedules/create",ve);Fe(`${He.id} is created.`),ae(["schedules",He.id])};return t(z,{title:"Create schedule",crumb:t(b,{children:[
t("a",{href:A(["schedules"]),children:"Schedules"})," / ",$.value]}),actions:t("a",{class:"button",href:A(["new","timer"]),children:"Timer instead"}),children:t(
"div",{class:"grid form",children:[t(E,{title:"Schedule",children:[t(N,{label:"Id",value:e,set:n,required:!0,placeholder:"daily-report",mono:!0}),t(ie,{label:"O\
ccurs",value:r,set:o,options:[["cron","Cron expression"],["every","Interval"],["rrule","RRULE"]]}),r==="cron"&&t(N,{label:"Cron expression",value:s,set:a,mono:!0,
hint:"Minute, hour, day of month, month, day of week; 6 fields begin with seconds."}),r==="every"&&t(N,{label:"Interval",value:i,set:l,hint:"At least 1s."}),r===
"rrule"&&t(N,{label:"RRULE",value:c,set:u,mono:!0}),G&&t(N,{label:"Time zone",value:d,set:p}),t(N,{label:"Callback URL",value:f,set:m,mono:!0,hint:"Empty: an ev\
ent on timerbus.fired."}),t(pt,{label:"Payload (JSON)",value:g,set:x,error:O.error,rows:3}),t(ie,{label:"If the id exists",value:F,set:pe,options:Pr}),t(Er,{children:[
t(ie,{label:"If the earlier occurrence is not finished",value:y,set:C,options:[["allow","Create the next one"],["skip","Leave the next one out"],["queue","Creat\
e it afterwards"],["cancelOther","Delete the earlier one"]]}),t(ie,{label:"After an outage",value:v,set:_,options:[["all","Create all of the last minute"],["las\
t","Create the last one"],["none","Create none"]]}),t(N,{label:"Occurrences, at most",type:"number",value:T,set:L})]}),t(Ar,{send:Xe,label:"Create schedule"})]}),
t("div",{class:"column",children:[t(E,{title:"Next occurrences",flush:!0,children:[k&&t(me,{error:k}),Q&&t(gn,{of:Q.occurrences,timeZone:Q.timeZone})]}),t($r,{curl:Cr(
"schedules/create",ve),cli:Tr(["schedule","create",e||"daily-report"],mt)})]})]})})}function Rr(){let e=U("namespaces",15e3,()=>Rt()),[n,r]=h(!1);return t(z,{title:"Namespaces",actions:Ze("admin")&&t(w,{kind:"primary",onClick:()=>{r(!0)},children:"\
Create namespace\u2026"}),children:[t(E,{flush:!0,wide:!0,children:t(q,{of:e,children:o=>o.length===0?t(M,{title:"You may read no namespace.",command:"timerbus \
key list",children:"Ask an administrator for a grant such as read@default."}):t(re,{caption:"Namespaces",head:["Namespace","Shards","History","Dead","Host concu\
rrency","Max. pending","Signed","Updated"],stack:!0,children:o.map(s=>t("tr",{children:[t("td",{class:"id","data-label":"Namespace",children:[t("a",{href:A(["na\
mespaces",s.name]),children:s.name})," ",s.deletingSince&&t(ne,{kind:"dead",children:"being deleted"})]}),t("td",{class:"num","data-label":"Shards",children:s.numShards}),
t("td",{"data-label":"History",children:j(s.settings.historyRetention)}),t("td",{"data-label":"Dead",children:j(s.settings.deadRetention)}),t("td",{class:"num",
"data-label":"Host concurrency",children:s.settings.hostConcurrency}),t("td",{class:"num","data-label":"Max. pending",children:s.settings.quota?.maxPending?P(s.
settings.quota.maxPending):t("span",{class:"muted",children:"no limit"})}),t("td",{"data-label":"Signed",children:s.settings.secrets?.length?"yes":t("span",{class:"\
muted",children:"no"})}),t("td",{"data-label":"Updated",children:t(D,{at:s.updatedAt,only:"relative"})})]},s.name))})})}),n&&t(Fa,{close:()=>{r(!1)},after:e.again})]})}
function Fa({close:e,after:n}){let[r,o]=h(""),[s,a]=h("small");return t(de,{title:"Create namespace",verb:"Create",path:"namespaces/create",body:()=>r?{name:r,preset:s}:
"Enter a name.",done:`${r} is created.`,close:e,after:n,children:[t(N,{label:"Name",value:r,set:o,required:!0}),t(ie,{label:"Size",value:s,set:a,hint:"It can ne\
ver be changed.",options:[["small","Below 10,000 timers (16 shards)"],["medium","Below 1,000,000 (256)"],["large","Below 10,000,000 (1,024)"],["xlarge","Below 1\
00,000,000 (4,096)"]]})]})}function Dr({name:e}){let n=U(`namespace/${e}`,5e3,c=>B("namespaces/get",{name:e},c)),[r,o]=h(null),[s,a]=h(!1),i=c=>{o({title:`${c===
"pause"?"Pause":"Resume"} ${e}`,verb:c==="pause"?"Pause":"Resume",done:c==="pause"?"paused":"resumed",path:`timers/${c}-matching`,filter:{namespace:e},describe:c===
"pause"?"All scheduled and retrying timers of the namespace. Timers that are created later are not paused.":"All paused timers of the namespace.",count:async(u,d)=>{
if(c==="resume")return qt({namespace:e,status:"paused"},u,d);let[p,f]=await Promise.all(["scheduled","retrying"].map(m=>qt({namespace:e,status:m},u,()=>{})));return{
n:(p?.n??0)+(f?.n??0),more:!!(p?.more||f?.more)}}})},l=n.data&&t(b,{children:[oe("write",e)&&t(w,{onClick:()=>{i("pause")},children:"Pause all timers\u2026"}),oe(
"write",e)&&t(w,{onClick:()=>{i("resume")},children:"Resume all timers\u2026"}),oe("admin",e)&&t(w,{kind:"primary",onClick:()=>{a(!0)},children:"Edit\u2026"})]});
return t(z,{title:e,crumb:t("a",{href:A(["namespaces"]),children:"Namespaces"}),actions:l,children:[t(q,{of:n,children:c=>{let u=c.settings,d=u.retryPolicy;return t(
"div",{class:"grid",children:[t(E,{title:"Settings",aside:c.deletingSince&&t(ne,{kind:"dead",children:"being deleted"}),children:t(ke,{of:[["Shards",c.numShards],
["Callback timeout",j(u.callbackTimeout)],["Retry",`${te(d.maxAttempts,"attempt")}, from ${j(d.initialInterval)}, \xD7 ${d.backoffMultiplier}, to ${j(d.maxInterval)}`],
["History",j(u.historyRetention)],["Dead timers",j(u.deadRetention)],["Payloads of done timers",u.keepPayload?j(u.keepPayload):"not kept"],["Final statuses",u.finalStatuses?.
join(", ")],["Event topics",u.eventTopics?.join(", ")],["On done",u.onDone&&t("code",{children:u.onDone})],["On dead",u.onDead&&t("code",{children:u.onDead})],[
"Headers",u.headers&&Object.keys(u.headers).join(", ")],["Version",c.version],["Updated",t(D,{at:c.updatedAt})]]})}),t(E,{title:"Limits",children:t(ke,{of:[["Ca\
lls of one host",`${u.hostConcurrency} for each dispatcher`],["Pending timers",u.quota?.maxPending?P(u.quota.maxPending):"no limit"],["Creates",u.quota?.createsPerSecond?
`${P(u.quota.createsPerSecond)} per second`:"no limit"],["Payload",u.quota?.maxPayloadBytes?`${P(u.quota.maxPayloadBytes)} bytes`:"102,400 bytes"],...(u.flows??
[]).map(p=>[`Flow ${p.pattern}`,[p.rate&&`${p.rate.count} per ${j(p.rate.per)}`,p.concurrency&&`${p.concurrency} at a time`].filter(Boolean).join(", ")])]})}),t(
E,{title:"Keys of signatures",flush:!0,wide:!0,children:u.secrets?.length?t(re,{caption:"Keys of signatures",head:["Id","Created","Expires"],children:u.secrets.
map(p=>t("tr",{children:[t("td",{children:t("code",{children:p.id})}),t("td",{children:t(D,{at:p.createdAt})}),t("td",{children:p.expiresAt?t(D,{at:p.expiresAt}):
"never"})]},p.id))}):t(M,{title:"Callbacks of this namespace are not signed.",command:`timerbus namespace update ${e} --secret -`,children:"Set a secret with th\
e CLI:"})}),(u.callbackAuth||u.tls)&&t(E,{title:"Authentication of callbacks",children:t(ke,{of:[["Type",u.callbackAuth?.type],["Token endpoint",u.callbackAuth?.
tokenUrl],["Client",u.callbackAuth?.clientId??u.callbackAuth?.username],["Own authorities",u.tls?.ca&&"yes"],["Client certificate",u.tls?.certificate&&"yes"]]})})]})}}),
r&&t(Ve,{action:r,close:()=>{o(null)},after:n.again}),s&&n.data&&t(Ia,{of:n.data,close:()=>{a(!1)},after:n.again})]})}function Ia({of:e,close:n,after:r}){let o=e.
settings,s={callbackTimeout:j(o.callbackTimeout),historyRetention:j(o.historyRetention),deadRetention:j(o.deadRetention),hostConcurrency:String(o.hostConcurrency),
maxPending:String(o.quota?.maxPending??"")},[a,i]=h(s),l=u=>d=>{i({...a,[u]:d})},c=()=>{let u={};for(let d of["callbackTimeout","historyRetention","deadRetentio\
n"])a[d]!==s[d]&&(u[d]=a[d]||null);return a.hostConcurrency!==s.hostConcurrency&&(u.hostConcurrency=a.hostConcurrency?Number(a.hostConcurrency):null),a.maxPending!==
s.maxPending&&(u.quota={...o.quota,maxPending:a.maxPending?Number(a.maxPending):null}),Object.keys(u).length?{name:e.name,settings:u,ifVersion:e.version}:"Nothi\
ng has changed."};return t(de,{title:`Edit ${e.name}`,verb:"Save",path:"namespaces/update",body:c,done:`${e.name} is updated.`,close:n,after:r,children:[t(N,{label:"\
Callback timeout",value:a.callbackTimeout,set:l("callbackTimeout"),hint:"1s to 5m"}),t(N,{label:"History retention",value:a.historyRetention,set:l("historyReten\
tion")}),t(N,{label:"Dead retention",value:a.deadRetention,set:l("deadRetention")}),t(N,{label:"Calls of one host for each dispatcher",type:"number",value:a.hostConcurrency,
set:l("hostConcurrency"),hint:"1 to 1024"}),t(N,{label:"Pending timers, at most",type:"number",value:a.maxPending,set:l("maxPending"),hint:"Empty: no limit"}),t(
"p",{class:"hint",children:["Empty fields get their default. All other settings: ",t("code",{children:["timerbus namespace update ",e.name," --help"]})]})]})}var Ma=50;function Ua(e){if(!e.held)return"free";let n=dn(e.overdueFor??"");return n>=6e4?"l4":n>=1e4?"l3":n>=2e3?"l2":n>0?"l1":"l0"}var qa=[["l0","nothing over\
due"],["l1","< 2 s"],["l2","< 10 s"],["l3","< 1 min"],["l4","longer"],["free","no owner"]];function Or(){let e=$.value,n=U(`shards/${e}`,5e3,s=>B("shards/list",
{namespace:e},s)),[r,o]=h(Ma);return t(z,{title:"Shards",children:t(q,{of:n,children:({shards:s})=>{let a=s.filter(p=>!p.held).length,i=s.filter(p=>p.overdueFor),
l=Math.max(0,...i.map(p=>dn(p.overdueFor??""))),c=new Map;for(let p of s)p.held&&c.set(p.node??"",(c.get(p.node??"")??0)+1);let u=Math.max(1,...c.values()),d=ut();
return t(b,{children:[t("div",{class:"tiles",children:[t(V,{label:"Shards",value:P(s.length),hint:e}),t(V,{label:"Without an owner",value:P(a),kind:a?"warn":"",
hint:a?"no scheduler runs, or one just ended":"all are owned"}),t(V,{label:"With overdue timers",value:P(i.length),kind:l>1e4?"warn":"",hint:l?`longest ${ge(l)}`:
"none"}),t(V,{label:"Nodes",value:P(c.size),hint:"that own shards"})]}),t("div",{class:"grid",children:[t(E,{title:"Lag",wide:!0,aside:t("div",{class:"legend",children:qa.
map(([p,f])=>t("span",{children:[t("i",{class:`cell ${p}`}),f]},p))}),children:t("div",{class:"heat",role:"img","aria-label":`${te(s.length,"shard")}: ${a} with\
out an owner, ${i.length} with overdue timers. The table below has each of them.`,children:s.map(p=>t("i",{class:`cell ${Ua(p)}`,title:`shard ${p.shard}, partit\
ion ${p.partition}, ${p.held?p.node:"no owner"}${p.overdueFor?`, overdue for ${p.overdueFor}`:""}`},p.shard))})}),t(E,{title:"Balance",wide:!0,children:c.size===
0?t(M,{title:"No node owns a shard.",command:"timerbus scheduler --help",children:"Start a scheduler:"}):t("ul",{class:"balance",children:[...c].sort(([p],[f])=>p<
f?-1:1).map(([p,f])=>t("li",{children:[t("span",{class:"clip",children:p}),t("span",{class:"meter","aria-hidden":"true",children:t("span",{style:{width:`${f/u*100}\
%`}})}),t("span",{class:"num",children:te(f,"shard")})]},p))})}),t(E,{title:"Every shard",wide:!0,flush:!0,children:[t(re,{caption:"Shards",head:["Shard","Parti\
tion","Owner","Claimed","Watermark","Next due","Overdue for"],stack:!0,children:s.slice(0,r).map(p=>t("tr",{children:[t("td",{class:"num","data-label":"Shard",children:p.
shard}),t("td",{class:"num","data-label":"Partition",children:p.partition}),t("td",{class:"clip","data-label":"Owner",children:p.held?p.node:t(ne,{kind:"retryin\
g",children:"none"})}),t("td",{"data-label":"Claimed",children:t(D,{at:p.claimedAt,only:"relative"})}),t("td",{"data-label":"Watermark",children:p.watermark?t("\
time",{dateTime:p.watermark,title:p.watermark,children:[ge(Math.max(0,d-Date.parse(p.watermark)))," behind"]}):t("span",{class:"muted",children:"\u2013"})}),t("\
td",{"data-label":"Next due",children:t(D,{at:p.nextDueAt,only:"relative"})}),t("td",{class:"num","data-label":"Overdue for",children:p.overdueFor??t("span",{class:"\
muted",children:"\u2013"})})]},p.shard))}),s.length>r&&t("div",{class:"pager",children:[t("span",{class:"muted",children:[r," of ",P(s.length)]}),t(w,{onClick:()=>{
o(r+500)},children:"Show more"})]})]})]})]})}})})}function Ha(){let e=le([]),n=$.value,r=U(`callbacks/${n}`,3e3,async()=>{let s=new Ge(await Bt()),a=e.current;for(a.push(s);a.length>2&&s.at-a[1].at>6e4;)a.shift();
let i=a.length>1?a[0]:void 0,l=c=>s.quantile(c,"dispatcher_callback_seconds",i,{namespace:n})??s.quantile(c,"dispatcher_callback_seconds",void 0,{namespace:n});
return{called:s.sum("dispatcher_hosts",{state:"called"}),queued:s.sum("dispatcher_hosts",{state:"queued"}),open:s.sum("dispatcher_hosts",{state:"open"}),inFlight:s.
sum("dispatcher_in_flight"),p50:l(.5),p99:l(.99),results:[...s.by("dispatcher_callbacks_total","result",{namespace:n})].filter(([,c])=>c>0)}}),o=s=>s===void 0?"\
\u2013":ge(s*1e3);return t(q,{of:r,children:s=>s.called===void 0?t("p",{class:"callout",children:["This process delivers no timers, so it knows no hosts. Dispat\
chers export their figures at ",t("code",{children:"/metrics"}),"."]}):t(b,{children:[t("div",{class:"tiles",children:[t(V,{label:"Hosts called",value:P(s.called),
hint:"with calls in flight"}),t(V,{label:"Hosts with a queue",value:P(s.queued??0),hint:"timers wait for a permit",kind:s.queued?"warn":""}),t(V,{label:"Open ci\
rcuits",value:P(s.open??0),hint:"hosts that do not answer",kind:s.open?"bad":""}),t(V,{label:"In flight",value:P(s.inFlight??0),hint:"deliveries of this process"}),
t(V,{label:"Callback p50",value:o(s.p50),hint:n}),t(V,{label:"Callback p99",value:o(s.p99),hint:"last minute"})]}),s.results.length>0&&t(E,{title:`Answers of ${n}\
 since the start of this process`,wide:!0,children:t("div",{class:"chips",children:s.results.map(([a,i])=>t("span",{class:`chip ${a==="2xx"?"done":a==="3xx"?"":
"dead"}`,children:[a," ",t("strong",{children:P(i)})]},a))})})]})})}function ja(e){let n=e.limit;return n?[n.rate&&`${P(n.rate.count)} per ${j(n.rate.per)}`,n.concurrency&&
`${P(n.concurrency)} at a time`].filter(Boolean).join(", "):"no pattern matches"}function za(){let e=$.value,n=U(`targets/${e}`,3e3,r=>B("targets/list",{namespace:e,
limit:200},r));return t(E,{title:"Hosts and user topics",flush:!0,wide:!0,children:t(q,{of:n,children:({delivers:r,targets:o})=>r?o.length===0?t(M,{title:`No ti\
mer of ${e} has been delivered since the start of this process.`}):t(re,{caption:"Hosts and user topics",head:["Target","Circuit","Running","Waiting","Concurren\
cy"],stack:!0,children:o.map(s=>t("tr",{children:[t("td",{class:"id","data-label":"Target",children:s.target}),t("td",{"data-label":"Circuit",children:s.circuitOpen?
t(ne,{kind:"dead",children:"open"}):t(ne,{kind:"done",children:"closed"})}),t("td",{class:"num","data-label":"Running",children:P(s.running)}),t("td",{class:"nu\
m","data-label":"Waiting",children:P(s.waiting)}),t("td",{class:"num","data-label":"Concurrency",children:P(s.concurrency)})]},s.target))}):t(M,{title:"This pro\
cess delivers no timers, so it knows no hosts.",children:"Dispatchers that run as separate processes do not share this state."})})})}function Lr(){let e=$.value,
n=ee.value.query.get("after")??"",r=U(`flows/${e}/${n}`,3e3,o=>B("flows/list",{namespace:e,after:n||void 0,limit:100},o));return t(z,{title:"Targets",children:[
Ze("read")?t(Ha,{}):t("p",{class:"callout",children:"The figures of hosts need the right to read all namespaces."}),t(za,{}),t(E,{title:"Flow keys",flush:!0,wide:!0,
children:t(q,{of:r,children:o=>t(b,{children:[o.flows.length===0?t(M,{title:`No flow of ${e} is in use.`,command:`timerbus namespace update ${e} --flow 'tenant-\
*:10/1s,concurrency=2'`,children:"Timers with the same flow key share a limit. Set limits with the CLI:"}):t(re,{caption:"Flow keys",head:["Flow key","Limit","R\
unning","Waiting","Backlog","Dispatchers"],stack:!0,children:o.flows.map(s=>t("tr",{children:[t("td",{class:"id","data-label":"Flow key",children:s.flowKey}),t(
"td",{"data-label":"Limit",children:ja(s)}),t("td",{class:"num","data-label":"Running",children:P(s.running)}),t("td",{class:"num","data-label":"Waiting",children:P(
s.waiting)}),t("td",{class:"num","data-label":"Backlog",children:P(s.backlog)}),t("td",{class:"num","data-label":"Dispatchers",children:P(s.dispatchers)})]},s.flowKey))}),
(o.next||n)&&t("div",{class:"pager",children:[t("span",{}),t("span",{class:"pager-buttons",children:[n&&t("a",{class:"button",href:A(["targets"]),children:"Firs\
t page"}),o.next&&t("a",{class:"button",href:A(["targets"],{after:o.next}),children:"Next page"})]})]})]})})})]})}function Ir({id:e}){let n=$.value,r=U(`timer/${n}/${e}`,2e3,u=>B("timers/get",{namespace:n,id:e},u)),o=U(`history/${n}/${e}`,3e3,u=>B("timers/history",{namespace:n,
id:e,limit:200},u)),[s,a]=h(null),i=r.data,l=()=>{r.again(),o.again()},c=i&&oe("write",n)&&t(b,{children:[i.status==="dead"||i.status==="parked"||i.status==="do\
ne"?t(w,{kind:"primary",onClick:()=>{a("retry")},children:"Retry\u2026"}):t(b,{children:[i.status!=="paused"&&t(w,{kind:"primary",onClick:()=>{a("run")},children:"\
Run now\u2026"}),i.status==="paused"?t(w,{onClick:()=>{a("resume")},children:"Resume\u2026"}):t(w,{onClick:()=>{a("pause")},children:"Pause\u2026"})]}),i.status!==
"dead"&&i.status!=="done"&&t(b,{children:[t(w,{onClick:()=>{a("update")},children:"Update\u2026"}),t(w,{kind:"danger-ghost",onClick:()=>{a("delete")},children:"\
Delete\u2026"})]})]});return t(z,{title:e,crumb:t(b,{children:[t("a",{href:A(["timers"]),children:"Timers"})," / ",n]}),actions:c,children:[t(q,{of:r,children:u=>t(
"div",{class:"grid",children:[t(Wa,{of:u}),t(Za,{of:u}),t(E,{title:"Attempts",wide:!0,children:t(q,{of:o,children:({attempts:d})=>t(Ja,{attempts:d,of:u})})})]})}),
r.error?.status===404&&t(M,{title:"This timer does not exist, or its history has expired.",children:t("a",{href:A(["timers"]),children:["All timers of ",n]})}),
i&&s&&t(Ka,{of:i,action:s,close:()=>{a(null)},after:l})]})}function Wa({of:e}){let n=e.retryPolicy,r=e.status==="done"||e.status==="dead";return t(E,{title:"Sta\
te",aside:t($e,{status:e.status}),children:[e.lastError&&t("div",{class:"callout bad",children:[t("strong",{children:e.lastStatusCode?`HTTP ${e.lastStatusCode}`:
"Last error"})," ",e.lastError]}),e.pause&&t("div",{class:"callout",children:["Paused",e.pause.by&&` by ${e.pause.by}`," ",t(D,{at:e.pause.at}),e.pause.note&&`:\
 ${e.pause.note}`]}),t(ke,{of:[["Due",r?void 0:t(D,{at:e.dueAt})],["Execute at",t(D,{at:e.executeAt})],["Local time",e.executeAtLocal&&`${e.executeAtLocal.replace(
"T"," ")} ${e.timeZone}`],["Last attempt",e.executedAt&&t(D,{at:e.executedAt})],["Attempts",`${e.attempts} of ${n.maxAttempts}`],["Retry",`from ${j(n.initialInterval)}\
, \xD7 ${n.backoffMultiplier}, to ${j(n.maxInterval)}`+(n.maxAttemptsDuration&&n.maxAttemptsDuration!=="0s"?`, for ${j(n.maxAttemptsDuration)}`:"")],["Window",e.
window],["Expires",e.expiresAt&&t(D,{at:e.expiresAt})],["Flow key",e.flowKey&&t("code",{children:e.flowKey})],["On done",e.onDone&&t("code",{children:e.onDone})],
["On dead",e.onDead&&t("code",{children:e.onDead})],["Correlation id",t("a",{href:A(["timers"],{correlationId:e.correlationId}),children:t("code",{children:e.correlationId})})],
["Created",t(D,{at:e.createdAt})],["Updated",t(D,{at:e.updatedAt})],["Generation",t("code",{children:e.generation})],["UUID",t("code",{children:e.uuid})]]})]})}
function Za({of:e}){let n=!ye.hidePayloads,r=t("p",{class:"muted",children:"Hidden by the settings of the server."});return t(E,{title:"Request",children:[t(ke,
{of:[["Delivers",e.deliver],["Method",e.request?.method??(e.callbackUrl?"POST":void 0)],["URL",e.callbackUrl&&t("span",{class:"url",children:[t("code",{children:e.
callbackUrl})," ",t(It,{text:e.callbackUrl})]})],["Topic",e.topic&&t("code",{children:e.topic})],["Key",e.key&&t("code",{children:e.key})],["Timeout",j(e.callbackTimeout)],
["Content type",e.request?.contentType]]}),e.headers&&Object.keys(e.headers).length>0&&t(b,{children:[t("h3",{children:"Headers"}),n?t(ke,{of:Object.entries(e.headers).
map(([o,s])=>[o,t("code",{children:s})])}):r]}),t("h3",{children:"Payload"}),n?e.payload!==void 0?t(Ke,{value:e.payload,label:"Payload"}):e.request?.body!==void 0?
t(Ke,{value:e.request.body,label:"Body"}):e.request?.bodyBase64!==void 0?t(Ke,{value:e.request.bodyBase64,label:"Body, base64"}):t("p",{class:"muted",children:e.
status==="done"?"A done timer is shown without its payload.":"This timer has no payload."}):r]})}var Fr={done:"done",rescheduled:"scheduled",failed:"retrying",dead:"\
dead",expired:"parked"};function Ja({attempts:e,of:n}){if(e.length===0)return t(M,{title:"No attempt has ended yet.",children:n.status==="scheduled"&&t(b,{children:[
"The first one begins ",t(D,{at:n.dueAt}),"."]})});let r=a=>Date.parse(a.finishedAt)-Date.parse(a.startedAt),o=Math.max(1,...e.map(r)),s=(a,i)=>{let l=e[i+1];return Date.
parse(a.startedAt)-Date.parse(l?.generation===a.generation&&l.nextAt?l.nextAt:a.executeAt)};return t("ol",{class:"timeline",children:e.map((a,i)=>t("li",{class:Fr[a.
outcome],children:[t("div",{class:"timeline-head",children:[t(ne,{kind:Fr[a.outcome],children:a.outcome}),t("strong",{children:["Attempt ",a.attempt]}),t(D,{at:a.
startedAt}),t("span",{class:"muted",children:[ge(Math.max(0,s(a,i)))," late"]})]}),t("div",{class:"timeline-body",children:[t("span",{children:[n.callbackUrl?t(
b,{children:[t("code",{children:n.request?.method??"POST"})," \u2192 "]}):"published \u2192 ",a.statusCode?t("strong",{children:["HTTP ",a.statusCode]}):a.error?
"no answer":"accepted"]}),t("span",{class:"meter","aria-hidden":"true",children:t("span",{style:{width:`${Math.max(1,r(a)/o*100)}%`}})}),t("span",{class:"num",children:ge(
r(a))})]}),a.error&&t("p",{class:"timeline-error",children:a.error}),a.nextAt&&t("p",{class:"muted",children:["Next attempt: ",t(D,{at:a.nextAt})]})]},a.generation+
a.attempt+a.startedAt))})}function Ka({of:e,action:n,close:r,after:o}){let[s,a]=h(""),[i,l]=h("deliver"),[c,u]=h(""),d={namespace:e.namespace,id:e.id,ifGeneration:e.
generation},p={close:r,after:o};switch(n){case"run":return t(de,{...p,title:"Run now",verb:"Run now",path:"timers/run-now",body:()=>d,done:`${e.id} runs now.`,children:t(
"p",{children:"The timer becomes due at once, as a new run of attempts."})});case"pause":return t(de,{...p,title:"Pause",verb:"Pause",path:"timers/pause",body:()=>({
...d,note:s||void 0}),done:`${e.id} is paused.`,children:[t("p",{children:"A paused timer is not delivered until it is resumed."}),t(N,{label:"Note",value:s,set:a,
hint:"Why it is paused; shown to everyone who may read it."})]});case"resume":return t(de,{...p,title:"Resume",verb:"Resume",path:"timers/resume",body:()=>({...d,
overdue:i}),done:`${e.id} is resumed.`,children:t(ie,{label:"If its time has passed",value:i,set:l,options:[["deliver","Deliver it now"],["skip","Let it expire"]]})});case"\
retry":return t(de,{...p,title:"Retry",verb:"Retry",path:"timers/retry",body:()=>({...d,executeIn:c||void 0}),done:`${e.id} is scheduled again.`,children:[t("p",
{children:["The timer starts again at attempt 1",e.status==="done"&&". A done timer can be retried only if its namespace keeps payloads","."]}),t(N,{label:"Dela\
y",value:c,set:u,placeholder:"0s",hint:"Such as 10m; now if it is empty."})]});case"delete":return t(de,{...p,title:"Delete",verb:"Delete",danger:!0,path:"timer\
s/delete",body:()=>d,done:`${e.id} is deleted.`,after:()=>{ae(["timers"])},children:t("p",{children:["Delete ",t("code",{children:e.id}),"? It is not delivered \
any more."]})});default:return t(Va,{of:e,...p})}}function Va({of:e,close:n,after:r}){let o={at:Ne(e.executeAt),url:e.callbackUrl??"",payload:e.payload===void 0?
"":JSON.stringify(e.payload,null,2)},[s,a]=h(o.at),[i,l]=h(o.url),[c,u]=h(o.payload);return t(de,{title:"Update",verb:"Save",path:"timers/update",body:()=>{let p={};
if(s!==o.at){let f=ue(s);if(!f)return"Enter the time completely.";p.executeAt=f}if(i!==o.url&&(p.callbackUrl=i||null),c!==o.payload)try{p.payload=c.trim()?lt(c):
null}catch(f){return`The payload is not JSON: ${f.message}`}return Object.keys(p).length===0?"Nothing has changed.":{namespace:e.namespace,id:e.id,ifGeneration:e.
generation,...p}},done:`${e.id} is updated.`,close:n,after:r,children:[t(N,{label:"Time",type:"datetime-local",step:"1",value:s,set:a}),t(N,{label:"Callback URL",
value:i,set:l,mono:!0}),ye.hidePayloads?t("p",{class:"muted",children:"Payloads are hidden by the settings of the server."}):t(pt,{label:"Payload (JSON)",value:c,
set:u,rows:8}),t("p",{class:"hint",children:"Only changed fields are sent. The update starts again at attempt 1, and fails if the timer has changed since."})]})}var yn=[["overview","Overview","o"],["timers","Timers","t"],["dead","Dead letters","d"],["schedules","Schedules","s"],["namespaces","Namespaces","n"],["targets",
"Targets","a"],["shards","Shards","h"]];function Ga(){let[e="overview",n,r]=ee.value.path,o=`${e}/${$.value}/${n??""}`;if(!Ce.value&&(e==="overview"||e==="targe\
ts"))return t("div",{class:"skeleton",role:"status",children:t("span",{class:"sr",children:"Loading"})});switch(e){case"overview":return t(vr,{},o);case"timers":
return n===void 0?t(_r,{},o):t(Ir,{id:n},o);case"dead":return t(br,{},o);case"schedules":return n===void 0?t(wr,{},o):t(xr,{id:n},o);case"namespaces":return n===
void 0?t(Rr,{}):t(Dr,{name:n},n);case"targets":return t(Lr,{},o);case"shards":return t(Or,{},o);case"new":return n==="schedule"?t(Br,{},o):t(Nr,{},o+(r??""));default:
return t(z,{title:"Not found",children:t(M,{title:"There is no such page.",children:t("a",{href:A(["overview"]),children:"Overview"})})})}}function Xa({reason:e}){
let[n,r]=h(""),[o,s]=h(),[a,i]=h(!1);X(()=>{document.title="Sign in \xB7 Timerbus"},[]);let l=async()=>{let c=xe.value;i(!0),s(void 0),Et(n.trim());try{await ct()}catch(u){
Et(c),s(u instanceof I?u:new I(0,"UNEXPECTED",String(u)))}i(!1)};return t("main",{class:"sign-in",children:t("form",{class:"card",onSubmit:c=>{c.preventDefault(),
l()},children:[t("h1",{children:[t(bn,{})," Timerbus"]}),t("p",{children:"Sign in with the token of the service, the token of an API key, or a token of the iden\
tity provider."}),o?t(me,{error:o}):xe.value&&t("div",{class:"error",role:"alert",children:t("p",{children:e})}),t("div",{class:"field",children:[t("label",{for:"\
token",children:"Token"}),t("input",{id:"token",type:"password",value:n,autocomplete:"off",required:!0,"aria-describedby":"token-hint",onInput:c=>{r(c.currentTarget.
value)}}),t("p",{class:"hint",id:"token-hint",children:["It stays in this tab until the tab is closed. Create a key for reading with",t("code",{children:" timer\
bus key create ui --grant read@*"}),"."]})]}),t("button",{type:"submit",class:"button primary block",disabled:a,children:a?"Checking\u2026":"Sign in"})]})})}var bn=()=>t(
"svg",{class:"mark",viewBox:"0 0 32 32","aria-hidden":"true",children:[t("rect",{width:"32",height:"32",rx:"7",class:"mark-back"}),t("circle",{cx:"16",cy:"16",r:"\
9",class:"mark-line"}),t("path",{d:"M16 10.5V16l4 2.6",class:"mark-line"})]});function Ya({close:e}){return t(Ie,{title:"Keyboard",close:e,children:[t("dl",{class:"\
facts keys",children:[yn.map(([,n,r])=>t("div",{children:[t("dt",{children:[t("kbd",{children:"g"})," ",t("kbd",{children:r})]}),t("dd",{children:n})]},r)),t("d\
iv",{children:[t("dt",{children:t("kbd",{children:"c"})}),t("dd",{children:"Create a timer"})]}),t("div",{children:[t("dt",{children:t("kbd",{children:"/"})}),t(
"dd",{children:"Search or filter"})]}),t("div",{children:[t("dt",{children:t("kbd",{children:"l"})}),t("dd",{children:"Live updates on or off"})]}),t("div",{children:[
t("dt",{children:t("kbd",{children:"?"})}),t("dd",{children:"This list"})]})]}),t("label",{class:"check",children:[t("input",{type:"checkbox",checked:Ot.value===
"on",onChange:n=>{Ot.value=n.currentTarget.checked?"on":"off"}}),"Use these keys"]})]})}var _n=0;function Qa(e){X(()=>{let n=r=>{let o=r.target;if(r.ctrlKey||r.
metaKey||r.altKey||o.closest("input, textarea, select, dialog, [contenteditable]"))return;if(r.key==="?"){e();return}if(Ot.value==="off")return;let s=Date.now()-
_n<1500;if(_n=0,s){let a=yn.find(([,,i])=>i===r.key);a&&ae([a[0]])}else if(r.key==="g")_n=Date.now();else if(r.key==="c")ae(["new","timer"]);else if(r.key==="l")
be.value=be.value==="on"?"off":"on";else if(r.key==="/"){let a=document.querySelector("[data-search]");a&&(r.preventDefault(),a.focus())}};return addEventListener(
"keydown",n),()=>{removeEventListener("keydown",n)}},[])}function es(){let[e,n]=h(!1),[r,o]=h(!1);Qa(()=>{o(!0)}),X(()=>{Ce.value&&Rt().catch(()=>{})},[Ce.value?.
name]);let[s="overview"]=ee.value.path;X(()=>{n(!1)},[ee.value]);let a=[...new Set([$.value,...cn.value.map(c=>c.name)])].sort(),i=c=>{ee.value.path.length>1&&s!==
"new"?ae([s],{ns:c}):fe({ns:c})};return t(b,{children:[t("button",{type:"button",class:"skip",onClick:()=>{document.querySelector("#main h1")?.focus()},children:"\
Skip to the content"}),t("header",{children:[t(w,{kind:"icon menu","aria-label":"Menu","aria-expanded":e,"aria-controls":"nav",onClick:()=>{n(!e)},children:"\u2630"}),
t("a",{class:"brand","aria-label":"Timerbus, overview",href:A(["overview"]),children:[t(bn,{}),t("span",{children:"Timerbus"})]}),t("label",{class:"sr",for:"ns",
children:"Namespace"}),t("select",{id:"ns",class:"namespace",value:$.value,onChange:c=>{i(c.currentTarget.value)},children:a.map(c=>t("option",{value:c,selected:c===
$.value,children:c},c))}),t("div",{class:"spacer"}),ye.readOnly&&t("span",{class:"badge paused",children:"read-only"}),t("div",{class:`prefs${e?" open":""}`,children:[
t("label",{class:"sr",for:"zone",children:"Time zone"}),t("select",{id:"zone",value:ce.value,onChange:c=>{ce.value=c.currentTarget.value},children:[t("option",{
value:"local",selected:ce.value==="local",children:"Local time"}),t("option",{value:"utc",selected:ce.value==="utc",children:"UTC"}),t("option",{value:"schedule",
selected:ce.value==="schedule",children:["Schedule",Se.value?` (${Se.value})`:"\u2019s zone"]})]}),t(w,{kind:"ghost live","aria-pressed":be.value==="on",title:"\
Live updates",onClick:()=>{be.value=be.value==="on"?"off":"on"},children:[t("span",{class:"dot"}),"Live"]}),t("label",{class:"sr",for:"theme",children:"Colours"}),
t("select",{id:"theme",value:Ee.value,onChange:c=>{Ee.value=c.currentTarget.value},children:[t("option",{value:"auto",selected:Ee.value==="auto",children:"Auto"}),
t("option",{value:"light",selected:Ee.value==="light",children:"Light"}),t("option",{value:"dark",selected:Ee.value==="dark",children:"Dark"})]})]})]}),t("div",
{class:"frame",children:[t("nav",{id:"nav","aria-label":"Pages",class:e?"open":"",children:[t("ul",{children:yn.map(([c,u])=>t("li",{children:t("a",{href:A([c]),
"aria-current":s===c?"page":void 0,children:u})},c))}),t("div",{class:"nav-foot",children:[t("div",{children:Ce.value?.name==="anyone"?"no credential required":
Ce.value?.name}),xe.value&&t(w,{kind:"small",onClick:()=>{Et(""),Ce.value=null,ct().catch(()=>{})},children:"Sign out"}),t(w,{kind:"small",onClick:()=>{o(!0)},children:"\
Keyboard"}),t("div",{class:"version",children:[ye.version," \xB7 ",t("a",{href:"licenses.txt",children:"licences"})]})]})]}),t("main",{id:"main",children:t(Ga,{})})]}),
t("div",{class:"notices",role:"status","aria-live":"polite",children:Je.value.map(c=>t("div",{class:`notice ${c.kind}`,children:[c.text,t(w,{kind:"icon","aria-l\
abel":"Dismiss",onClick:()=>{un(c.id)},children:"\u2715"})]},c.id))}),r&&t(Ya,{close:()=>{o(!1)}})]})}var ts=ct();function ns(){let[e,n]=h(),r=(o=ct())=>{n(void 0),
o.catch(s=>{s instanceof I&&s.status!==401&&n(s)})};return wt(()=>{r(ts)},[]),it.value!==null?t(Xa,{reason:it.value}):e?t("main",{class:"sign-in",children:t("di\
v",{class:"card",children:[t("h1",{children:[t(bn,{})," Timerbus"]}),t(me,{error:e,again:()=>{r()}})]})}):t(es,{})}Rn(t(ns,{}),document.getElementById("app"));
